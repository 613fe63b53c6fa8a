/**
 * Listens for events that end cached tokens early: ended sessions, changed users. PostgreSQL sends them to every
 * process by NOTIFY, on one dedicated connection. Heartbeats test that notices arrive: a pooler that shares connections
 * drops notices silently, and a broken network reports nothing.
 * Next hop: `verified-tokens.ts`; the notices come from `sql/auth/notify_*.sql`.
 */

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import { jsonIn } from "../../kit/json-in.ts";
import { breakConnection } from "../../postgres/silence.ts";
import { askAuth } from "../ask-auth.ts";
import type { VerifiedTokens } from "./verified-tokens.ts";

export interface RevocationOptions {
  /** Any login of the same database, connected directly: a transaction pooler does not deliver notices. */
  url: string;
  /** Connections as svc_auth, to send notices to ourselves. */
  pool: pg.Pool;
  verified: VerifiedTokens;
  log: Logger;
}

/** In milliseconds: interval of heartbeats. */
const beatEvery = 400;
/** In milliseconds, from its request: how long a heartbeat is valid. Revocations take effect within a second. */
const trustFor = 1_000;
/**
 * One in this many heartbeats is a notice to ourselves, which costs the database a transaction. The others cost almost nothing.
 */
const noticeEvery = 25;
/** In milliseconds: a slower answer counts as a broken connection. */
const patience = 5_000;
/** In milliseconds: behind a pooler, notices may never arrive. */
const patienceAtStart = 1_000;
/** In milliseconds. */
const firstRetry = 200;
const longestRetry = 10_000;

export class Revocations {
  readonly #options: RevocationOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #everHeard = false;
  /** The last notice to ourselves. Unanswered it holds a connection of the pool, so that it is the only one. */
  #sent: Promise<unknown> = Promise.resolve();
  readonly #begun = Promise.withResolvers<void>();

  constructor(options: RevocationOptions) {
    this.#options = options;
  }

  /** Starts to listen and reconnects after every loss of the connection, until `close`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /**
   * Resolves when notices arrive or a first attempt has failed, after a second at most. The first heartbeat ends every
   * socket, because earlier notices may have been missed. A service that waits for this closes no new socket.
   */
  async begun(): Promise<void> {
    const { signal } = this.#stopping;
    await Promise.race([
      this.#begun.promise,
      sleep(patienceAtStart, undefined, { signal, ref: false }).catch(() => {}),
    ]);
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
          if (announced) this.#options.log.info("revocations are received");
          this.#options.verified.trust(askedAt + trustFor);
          this.#everHeard = true;
          this.#begun.resolve();
          announced = false;
          wait = firstRetry;
        }
      } catch (error) {
        if (!announced && !signal.aborted) this.#announce(error);
        announced = true;
      }
      this.#begun.resolve();
      this.#options.verified.trust(Number.NEGATIVE_INFINITY);
      await sleep(wait * (0.5 + Math.random()), undefined, { signal, ref: false }).catch(() => {});
      wait = Math.min(wait * 2, longestRetry);
    }
  }

  /** Yields, over one connection, when each heartbeat was requested. Throws when no heartbeat arrives or the connection ends. */
  async *#signsOfLife(): AsyncGenerator<number> {
    const { url, pool, verified } = this.#options;
    const { signal } = this.#stopping;
    const client = new pg.Client({ connectionString: url, keepAlive: true, application_name: "svc revocations" });
    const breaking = new AbortController();
    const broken = breaking.signal;
    const stop = () => breaking.abort(signal.reason);
    signal.addEventListener("abort", stop);
    client.on("error", (error) => breaking.abort(error));
    client.on("end", () => breaking.abort(new Error("the listening connection ended")));
    let hearMyself = () => {};
    client.on("notification", ({ channel, payload }) => (channel === "svc_auth" ? this.hear(payload) : hearMyself()));

    try {
      // A random name, so that no other process's heartbeat is mistaken for ours.
      const listener = randomBytes(8).toString("hex");
      await inTime(broken, this.#sent);
      await inTime(broken, client.connect());
      await inTime(broken, client.query(`listen svc_auth; listen svc_auth_${listener}`));
      for (let beat = 0; ; beat++) {
        const askedAt = performance.now();
        if (beat % noticeEvery === 0) {
          const heard = new Promise<void>((resolve) => {
            hearMyself = resolve;
          });
          const sent = askAuth(pool, "auth.send_heartbeat($1)", [listener]);
          this.#sent = sent.catch(() => {});
          await inTime(broken, Promise.all([sent, heard]));
        } else {
          await inTime(broken, client.query("select"));
        }
        // No notice is missed from now on. Earlier ones may have been, also during a lookup.
        if (beat === 0) verified.end({});
        yield askedAt;
        // Ends early when the connection breaks; the next heartbeat then throws why.
        await sleep(beatEvery, undefined, { signal: broken, ref: false }).catch(() => {});
      }
    } finally {
      signal.removeEventListener("abort", stop);
      // A regular end() would wait for an answer that a broken connection does not send.
      breakConnection(client);
    }
  }

  /**
   * Ends the sessions that a notice names.
   *
   * @param notice of `sql/auth/notify_*.sql`. Anybody may NOTIFY: one that cannot be read ends all, which only costs lookups
   */
  hear(notice = ""): void {
    const { verified, log } = this.#options;
    const { user, session } = Object(jsonIn(notice)) as { user?: unknown; session?: unknown };
    // The user's id is not logged: an application may derive ids from addresses.
    log.trace({ session }, "received that tokens have ended");
    if (typeof user !== "string") verified.end({});
    else verified.end(typeof session === "string" ? { user, session } : { user });
  }

  #announce(err: unknown): void {
    const text = "revocations are not received: until they are, every call with a token asks the database";
    // If no notice ever arrived, it is probably a pooler.
    const hint = "; behind PgBouncer, set DATABASE_REPLICATION_URL to a direct connection";
    this.#options.log.warn({ err }, this.#everHeard ? text : text + hint);
  }
}

/**
 * Waits no longer than the connection lasts, and than `patience`.
 *
 * @param broken a signal, not a promise: a promise would keep what each wait adds to it, for as long as the connection lasts
 */
async function inTime<T>(broken: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: noLonger, reject } = Promise.withResolvers<never>();
  const fail = () => reject(broken.reason);
  if (broken.aborted) fail();
  broken.addEventListener("abort", fail);
  const late = new Error(`the listening connection did not respond within ${patience} ms`);
  const timer = setTimeout(() => reject(late), patience).unref();
  try {
    return await Promise.race([work, noLonger]);
  } finally {
    clearTimeout(timer);
    broken.removeEventListener("abort", fail);
  }
}
