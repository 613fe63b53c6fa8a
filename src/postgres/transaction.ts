/**
 * The only access to request SQL: one transaction per call, opened by the first statement, with one role and one
 * identity. Reads see one snapshot and cannot write; writes commit when the handler has returned.
 * Next hop: `src/postgres/database.ts` puts Drizzle on top; `src/crud/statement.ts` is the way of generated CRUD.
 */
import type pg from "pg";
import { isAnotherCall } from "../kit/running-call.ts";
import { SvcError } from "../kit/svc-error.ts";
import { activeSpan } from "../telemetry/span.ts";
import type { Access, Fallback, TransactionLimits } from "./access.ts";
import { acquire, type Lease, leave, leaveRead } from "./acquire.ts";
import { isBrokenOff, noteStatement, sqlState } from "./errors.ts";
import { Failures, usedElsewhere, usedLate } from "./failures.ts";
import type { Identity } from "./identity.ts";
import { type HandlerStatement, mayBeOutdated, sendQuery } from "./kept-statements.ts";
import { NestedTransactions } from "./nested-transactions.ts";
import { commitWrites } from "./outcome.ts";
import { connectionError } from "./pools.ts";
import { batchWrites } from "./send-together.ts";
import {
  enterTransaction,
  type Mark,
  type Opening,
  placeOfCommit,
  roleNone,
  roleOf,
} from "./transaction-statements.ts";

/** A call's transaction. Not usable after `commit` or `rollback`. */
export class RequestTransaction {
  #pool: pg.Pool;
  #fallback: Fallback | undefined;
  /** Who its statements run as. */
  readonly identity: Identity;
  readonly #access: Access;
  readonly #opening: Opening;
  #lease: Promise<Lease> | undefined;
  readonly #failures: Failures;
  /** Only of a transaction that writes, once the server has answered its first statements. */
  #mark: Mark | undefined;
  #isAnswered = false;
  #hasBegunAgain = false;
  /** Statements without an answer. */
  #underWay = 0;
  /** Whether `commit` or `rollback` has been called. */
  isOver = false;
  /** The call whose code alone may use it; undefined where no code of the application runs. */
  call: number | undefined;
  #savepoints = 0;
  /** Nested ones, if the handler has begun some. */
  nested: NestedTransactions | undefined;
  /** What `ctx.realtime` sends just before COMMIT, and to durable channels. A savepoint that is rolled back takes its own back. */
  readonly messages: string[] = [];
  readonly stored: string[] = [];
  /** The last rollback to a savepoint. */
  #returning: Promise<unknown> | undefined;

  constructor(pool: pg.Pool, identity: Identity, access: Access, limits: TransactionLimits, fallback?: Fallback) {
    this.#pool = pool;
    this.#fallback = access === "read" ? fallback : undefined;
    this.identity = identity;
    this.#access = access;
    this.#failures = new Failures(identity, access);
    const span = access === "write" ? activeSpan() : undefined;
    this.#opening = { access, limits, traceparent: span?.sampled ? span.traceparent : undefined };
  }

  /**
   * Runs one statement; the first one opens the transaction in the same round trip.
   * @throws the database's own error, for the handler; `commit` reports it if the handler ignored it
   */
  async query(config: HandlerStatement, values?: unknown[]): Promise<pg.QueryResult> {
    const misuse = this.#misuse;
    if (misuse) throw noteStatement(new Error(misuse), config.text);
    try {
      return await this.#send(config, values);
    } catch (error) {
      this.#failures.note(error);
      throw error;
    }
  }

  get #misuse(): string | false | undefined {
    return this.isOver ? usedLate : isAnotherCall(this.call) && usedElsewhere;
  }

  async #send(config: HandlerStatement, values?: unknown[], isTried = false): Promise<pg.QueryResult> {
    this.#lease ??= this.#open();
    const opened = this.#lease;
    this.#underWay++;
    try {
      const { client } = await opened;
      const result = await sendQuery(client, config, values, this.identity.role).catch((error) => {
        // If the server closed the connection, the reason came in an earlier event.
        const reason = sqlState(error) === undefined ? (connectionError(client) ?? error) : error;
        this.#failures.add(reason, config.text);
        // Set at once: a COMMIT sent right after may already be answered. Not after a restart: the statement is sent again.
        if (!this.#fallback && !isTried && (this.isOver || opened === this.#lease)) this.#failures.first ??= reason;
        throw reason;
      });
      if (opened === this.#lease) {
        this.#fallback = undefined;
        this.#isAnswered = true;
      }
      return result;
    } catch (error) {
      if (opened === this.#lease && !this.#restart(opened, error)) throw error;
      // Restarted, by this statement or by one sent with it.
      if (this.isOver || !this.#lease || opened === this.#lease) throw error;
      return this.#send(config, values, isTried);
    } finally {
      this.#underWay--;
    }
  }

  /** Begins again: on the other server, on another connection, or without the name of a statement from before a migration. */
  #restart(opened: Promise<Lease>, error: unknown): boolean {
    const failure = this.#failures.first ?? error;
    const fallback = this.#fallback?.helps(this.#failures.refusal(failure)) && this.#fallback;
    if (!fallback) {
      const isCurable = mayBeOutdated(failure) || (this.#access === "read" && isBrokenOff(failure));
      if (this.#isAnswered || this.#hasBegunAgain || !isCurable) return false;
      this.#hasBegunAgain = true;
    }
    opened.then((lease) => leave(lease, "rollback", failure)).catch(() => {});
    this.#failures.first = undefined;
    if (fallback) {
      this.#fallback = undefined;
      this.#pool = fallback.pool;
      fallback.moved();
    }
    this.#lease = this.#open();
    return true;
  }

  /**
   * Runs one statement as the login instead of the caller's role, for the few functions that SQL of a request must not reach
   * (sql/jobs/enqueue_job.sql). The three statements are sent together: no other statement of this transaction comes between.
   */
  async asLogin(config: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> {
    if (this.identity.role === "svc_system") return this.query(config, values);
    this.#lease?.then(({ client }) => batchWrites(client)).catch(() => {}); // the statements report the error too
    const leaving = this.query(roleNone);
    const answer = this.query(config, values);
    const returning = this.query(roleOf(this.identity.role));
    // When the statement fails, the others fail with it; report the error of the statement.
    const [result, ...others] = await Promise.allSettled([answer, leaving, returning]);
    if (result.status === "rejected") throw result.reason;
    for (const other of others) if (other.status === "rejected") throw other.reason;
    return result.value;
  }

  /**
   * As `asLogin`, but inside a savepoint: if it fails and the handler catches that, the transaction is unchanged. A
   * statement that the handler sends meanwhile fails, and with it the call.
   */
  async tryAsLogin(config: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> {
    const savepoint = `svc_try_${++this.#savepoints}`;
    const { role } = this.identity;
    const asLogin = role !== "svc_system";
    if (this.#misuse) return this.query(config, values); // its error says why not
    if (asLogin) this.#lease?.then(({ client }) => batchWrites(client)).catch(() => {});
    const before = this.#returning;
    const send = (one: pg.QueryConfig, its?: unknown[]) => this.#send(one, its, true);
    const saving = send({ text: `savepoint ${savepoint}` });
    const leaving = asLogin && send(roleNone);
    const answer = send(config, values);
    const entering = asLogin && send(roleOf(role));
    const releasing = send({ text: `release savepoint ${savepoint}` });
    const [result, saved, ...others] = await Promise.allSettled([answer, saving, leaving, entering, releasing]);
    const failed = [result, saved, ...others].find((one) => one.status === "rejected");
    if (!failed && result.status === "fulfilled") return result.value;
    const reason = failed?.reason;
    // The call has ended meanwhile: a statement would open a transaction that nobody ends.
    if (this.isOver) throw reason;
    if (saved.status === "rejected") {
      // Another of these failed, and the transaction is rolling back to its savepoint.
      if (this.#failures.first === undefined && this.#returning && this.#returning !== before) {
        await this.#returning;
        return this.tryAsLogin(config, values);
      }
      this.#failures.first ??= reason;
      throw reason;
    }
    this.#returning = Promise.all(
      ["rollback to savepoint", "release savepoint"].map((what) => this.#send({ text: `${what} ${savepoint}` })),
    );
    await this.#returning.catch((error) => {
      this.#failures.first ??= error;
    });
    throw reason;
  }

  /** Whether a statement has run, and `commit` or `rollback` has not been called. */
  get isOpen(): boolean {
    return this.#lease !== undefined;
  }

  /** Rolls back the writes of `run` if it throws; the transaction continues. @param stays saves the round trip of RELEASE */
  savepoint<T>(run: () => Promise<T>, stays = false): Promise<T> {
    const misuse = this.#misuse; // asked before it waits for its turn
    if (misuse) return Promise.reject(new Error(misuse));
    this.nested ??= new NestedTransactions();
    return this.nested.run(run, (inside) => this.#savepoint(inside, stays));
  }

  async #savepoint<T>(run: () => Promise<T>, stays: boolean): Promise<T> {
    // Not awaited: what `run` sends follows it, and fails with it. The end must not find the savepoint of another one then.
    const savepoint = `savepoint svc_nested_${++this.#savepoints}`;
    this.query({ text: savepoint }).catch(() => {});
    const said = [this.messages.length, this.stored.length] as const;
    try {
      const result = await run();
      if (!stays) await this.query({ text: `release ${savepoint}` });
      return result;
    } catch (error) {
      [this.messages.length, this.stored.length] = said;
      for (const what of ["rollback to", "release"]) await this.query({ text: `${what} ${savepoint}` });
      this.#failures.first = undefined;
      throw error;
    }
  }

  /**
   * Commits. Does nothing if no statement was run. If the connection is lost meanwhile, the server is asked for the outcome.
   *
   * @param last `select` of one function: runs as the login, in the round trip of COMMIT. (Default: none)
   * @throws SvcError when the database refused, or when a statement had failed and the handler ignored the error;
   *   OUTCOME_UNKNOWN when the connection was lost and the outcome of the writes is unknown
   */
  async commit(last?: pg.QueryConfig): Promise<void> {
    const placed = last && this.#finish(last);
    // COMMIT is sent without waiting: after a failed statement PostgreSQL turns it into a rollback.
    if (this.identity.role === "svc_system") await placed;
    const lease = await this.#end();
    if (!lease) return void (await placed);
    if (this.#failures.first) {
      await leave(lease, "rollback", this.#failures.first).catch(() => {});
      throw this.#failures.refusal(this.#failures.first);
    }
    if (this.#access === "read") return leaveRead(lease, this.#underWay > 0);
    const end = () => leave(lease, "commit");
    const at = placed?.then(({ rows }) => rows[0]?.place as string);
    const command = await commitWrites(lease.client, this.#pool, this.#mark, end, at).catch((error) => {
      throw error instanceof SvcError ? error : this.#failures.refusal(error);
    });
    // PostgreSQL answers COMMIT with ROLLBACK, without an error, if the transaction had already failed: by a statement
    // that the handler had not awaited.
    if (command === "COMMIT") return;
    throw this.#failures.refusal(new SvcError("CONFLICT", "The changes could not be saved."));
  }

  /** Runs the last statement. It need not return to the caller's role, and asks for the place of COMMIT, too. */
  #finish({ name, text, values }: pg.QueryConfig): Promise<pg.QueryResult> {
    if (this.identity.role === "svc_system") return this.query({ name, text, values }); // it has no mark
    this.#lease?.then(({ client }) => batchWrites(client)).catch(() => {}); // the statements report the error too
    this.query(roleNone).catch(() => {}); // `placed` fails with it
    const placed = this.query({ name: name && `${name}_last`, text: `${text}, ${placeOfCommit}`, values });
    placed.catch(() => {}); // `commit` reports it
    return placed;
  }

  /** Rolls everything back, unless `commit` was called. Never throws: the error that caused the rollback matters more. */
  async rollback(): Promise<void> {
    const lease = await this.#end()?.catch(() => undefined);
    if (lease) await leave(lease, "rollback", this.#failures.first).catch(() => {});
  }

  explain(error: unknown): unknown {
    return this.#failures.explain(error);
  }

  async #open(): Promise<Lease> {
    const pool = this.#pool;
    const lease = await acquire(pool, this.identity.holder);
    // Sent together with the next statement. If one of them fails, so does that statement: outside a transaction this
    // login has no privilege on any table, inside a failed one nothing runs.
    const isPipelined = this.identity.role !== "svc_system";
    if (isPipelined) batchWrites(lease.client);
    const failed = (error: unknown) => {
      if (pool === this.#pool) this.#failures.note(error);
    };
    const entering = enterTransaction(lease.client, this.#opening, this.identity, failed).catch(() => undefined);
    entering.then((mark) => {
      this.#mark = mark;
    });
    if (!isPipelined) await entering;
    return lease;
  }

  /** Marks the transaction ended; returns its connection once, since the connection then belongs to another holder. */
  #end(): Promise<Lease> | undefined {
    const lease = this.#lease;
    this.isOver = true;
    this.#lease = undefined;
    return lease;
  }
}
