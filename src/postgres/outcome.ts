/**
 * Finds the outcome of a transaction whose connection was lost during COMMIT. The server is asked on another
 * connection, for as long as a restart or a failover may take.
 * Next hop: `sql/session/transaction_outcome.sql`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { acquire, type Lease } from "./acquire.ts";
import { mayHaveRun, outcomeUnknown } from "./errors.ts";
import { sendStatement } from "./packet.ts";
import { connectionError } from "./pools.ts";
import { batchWrites } from "./send-together.ts";
import { type Mark, place } from "./transaction-statements.ts";

/** Identifies a transaction after its connection is lost. */
interface PlacedMark extends Mark {
  /** Place in the write-ahead log just before COMMIT; null if the server did not answer in time. */
  place: string | null;
}

type Outcome = "committed" | "rolled back" | "unknown";

/** In milliseconds: how long a server that is unreachable, or still committing, is asked. docs/reference/limits.md. */
const asksFor = 10_000;
/** In milliseconds: the first and the longest pause between two tries. */
const pauses = { first: 20, longest: 500 };

const question = { name: "svc_transaction_outcome", text: "select svc.transaction_outcome($1, $2, $3) as it" };

/** @param pool of the login that ran the transaction. Never throws: if no server answers, the outcome is unknown */
async function askOutcome(pool: pg.Pool, mark: PlacedMark): Promise<Outcome> {
  const deadline = performance.now() + asksFor;
  for (let pause = pauses.first; ; pause = Math.min(2 * pause, pauses.longest)) {
    const answer = await askOnce(pool, mark);
    if (answer === "committed") return "committed";
    if (answer === "aborted") return "rolled back";
    // Otherwise the transaction is in progress, the server is starting, or there is no server.
    if (answer === null || pool.ending || performance.now() > deadline) return "unknown";
    await sleep(pause);
  }
}

/** @returns the server's answer; undefined if there was none */
async function askOnce(pool: pg.Pool, { transaction, server, place }: PlacedMark) {
  let lease: Lease | undefined;
  try {
    lease = await acquire(pool);
    const { rows } = await lease.client.query<{ it: string | null }>(question, [transaction, server, place]);
    lease.release();
    return rows[0]?.it;
  } catch {
    lease?.release(true);
    return undefined;
  }
}

/**
 * Commits. If the connection is lost meanwhile, asks the server on another connection for the outcome.
 *
 * @param mark  of the transaction, if the server has sent it
 * @param leave sends COMMIT and returns the connection
 * @param placed the answer to the last statement, if that asked for the place too
 * @returns the command tag of COMMIT, also if it was found out afterwards
 * @throws the server's error; SvcError OUTCOME_UNKNOWN if the outcome of the writes is unknown
 */
export async function commitWrites(
  client: pg.ClientBase,
  pool: pg.Pool,
  mark: Mark | undefined,
  leave: () => Promise<string>,
  placed?: Promise<string | null>,
): Promise<string> {
  let lastPlace: string | null = null;
  let reason: unknown;
  if (mark) {
    batchWrites(client);
    (placed ?? sendStatement(client, place)).then(
      (place) => {
        lastPlace = place;
      },
      (error) => {
        reason = error; // the server closed the connection before COMMIT was sent
      },
    );
  }
  try {
    return await leave();
  } catch (error) {
    reason = connectionError(client) ?? reason ?? error;
    if (!mayHaveRun(error) || !mayHaveRun(reason)) throw reason;
  }
  const outcome = mark ? await askOutcome(pool, { ...mark, place: lastPlace }) : "unknown";
  if (outcome === "committed") return "COMMIT";
  throw outcome === "unknown" ? outcomeUnknown(reason) : reason;
}
