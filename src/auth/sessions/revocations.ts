/**
 * Hears what ends JWTs before their time: sessions that end, users that change. Postgres tells every process by NOTIFY,
 * on one connection of its own. Whether it really tells is tried out: a pooler that shares connections loses notices
 * silently, and a network that has died says nothing.
 * Next hop: `verified-tokens.ts`; the notices come from `sql/auth/notify_*.sql`.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import { ask } from "../ask.ts";
import type { VerifiedTokens } from "./verified-tokens.ts";

export interface RevocationOptions {
  /** Any login of the same database, connected directly: no notice comes through a pooler of transactions. */
  url: string;
  /** Connections as svc_auth, for notices to ourselves. */
  pool: pg.Pool;
  verified: VerifiedTokens;
  log: Logger;
}

/** In milliseconds: how often the connection is asked for a sign of life. */
const beatEvery = 400;
/** In milliseconds, from when it was asked for: how long a sign of life counts. Revocations deny within a second. */
const trustFor = 1_000;
/**
 * One in so many signs of life is a notice to ourselves, which costs the database a transaction; the others nearly
 * nothing.
 */
const noticeEvery = 25;
/** In milliseconds: what takes longer is broken. */
const patience = 5_000;
/** In milliseconds. */
const firstRetry = 200;
const longestRetry = 10_000;

export class Revocations {
  readonly #options: RevocationOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #aliveAt = Number.NEGATIVE_INFINITY;
  #everHeard = false;

  constructor(options: RevocationOptions) {
    this.#options = options;
  }

  /** Whether verified tokens may be believed: had anything ended them, we should have heard it. */
  get listening(): boolean {
    return performance.now() - this.#aliveAt < trustFor;
  }

  /** Begins to listen, and goes on until `close`, through every loss of the connection. */
  start(): void {
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let wait = firstRetry;
    let announced = false;
    while (!signal.aborted) {
      try {
        for await (const askedAt of this.#signsOfLife()) {
          if (announced) this.#options.log.info("revocations of JWTs are heard");
          this.#aliveAt = askedAt;
          this.#everHeard = true;
          announced = false;
          wait = firstRetry;
        }
      } catch (error) {
        if (!announced && !signal.aborted) this.#announce(error);
        announced = true;
      }
      this.#aliveAt = Number.NEGATIVE_INFINITY;
      await sleep(wait * (0.5 + Math.random()), undefined, { signal, ref: false }).catch(() => {});
      wait = Math.min(wait * 2, longestRetry);
    }
  }

  /** One connection's worth: when each sign of life was asked for. Throws when there is none, or the connection ends. */
  async *#signsOfLife(): AsyncGenerator<number> {
    const { url, pool, verified } = this.#options;
    const { signal } = this.#stopping;
    const client = new pg.Client({ connectionString: url, keepAlive: true, application_name: "svc revocations" });
    const broken = new Promise<never>((_resolve, reject) => {
      client.on("error", reject);
      client.on("end", () => reject(new Error("the listening connection ended")));
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    broken.catch(() => {}); // it may come before anybody waits for it
    let hearMyself = () => {};
    client.on("notification", ({ channel, payload }) => (channel === "svc_auth" ? this.#obey(payload) : hearMyself()));

    try {
      // A name that nobody else has: no other process's heartbeat can be taken for ours.
      const listener = randomBytes(8).toString("hex");
      await inTime(broken, client.connect());
      await inTime(broken, client.query(`listen svc_auth; listen svc_auth_${listener}`));
      for (let beat = 0; ; beat++) {
        const askedAt = performance.now();
        if (beat % noticeEvery === 0) {
          const heard = new Promise<void>((resolve) => {
            hearMyself = resolve;
          });
          const question = { name: "svc_send_heartbeat", text: "select auth.send_heartbeat($1)", values: [listener] };
          await inTime(broken, Promise.all([ask(pool, question), heard]));
        } else {
          await inTime(broken, client.query("select"));
        }
        // From now on nothing is missed; whatever happened before may have been, also while a look-up was under way.
        if (beat === 0) verified.forgetAll();
        yield askedAt;
        await Promise.race([sleep(beatEvery, undefined, { ref: false }), broken]);
      }
    } finally {
      // The polite goodbye would wait for an answer that a broken connection does not give.
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    }
  }

  /** Anybody may NOTIFY. What cannot be read makes us forget everything, which costs look-ups and nothing else. */
  #obey(payload = ""): void {
    const { verified, log } = this.#options;
    const { user, session } = parse(payload);
    // Whose they were is not logged: an application may make its users' ids of their addresses.
    log.trace({ session }, "heard that JWTs have ended");
    if (typeof user !== "string") verified.forgetAll();
    else verified.forget(user, typeof session === "string" ? session : undefined);
  }

  #announce(err: unknown): void {
    const text = "revocations of JWTs are not heard: until they are, every call by JWT asks the database";
    // What was never heard is unlikely to come by itself.
    const hint = "; behind PgBouncer, set DATABASE_REPLICATION_URL to a direct connection";
    this.#options.log.warn({ err }, this.#everHeard ? text : text + hint);
  }
}

async function inTime<T>(broken: Promise<never>, work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const tooLong = async (): Promise<never> => {
    await sleep(patience, undefined, { signal: done.signal, ref: false });
    throw new Error(`the listening connection did not respond within ${patience} ms`);
  };
  try {
    return await Promise.race([work, broken, tooLong()]);
  } finally {
    done.abort();
  }
}

function parse(payload: string): { user?: unknown; session?: unknown } {
  try {
    return Object(JSON.parse(payload));
  } catch {
    return {};
  }
}
