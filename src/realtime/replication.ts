/**
 * Reads the write-ahead log: every committed transaction, in commit order, from all clients of the database. The slot is
 * temporary: a process that dies leaves nothing behind. A process that lost its connection starts with a new slot and
 * reports a gap.
 * Next hop: `change-decoder.ts`; with several processes behind one port `shared-changes.ts`.
 * https://www.postgresql.org/docs/current/protocol-replication.html
 */
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import { isConnectionLoss, sqlState } from "../postgres/errors.ts";
import { keepAlive } from "../postgres/silence.ts";
import { type FrameSink, newPlugin, year2000 } from "./change-decoder.ts";
import { missingRemedy } from "./publication.ts";

export interface ReaderOptions {
  /** A login with REPLICATION, connected directly: poolers do not pass the protocol on. */
  url: string;
  to: FrameSink;
  log: Logger;
  /** In milliseconds. (Default: 5000) */
  beatMs?: number;
}

/** In milliseconds. */
const firstRetry = 200;
const longestRetry = 10_000;
/** While the server is away: it may be back at any moment, and a try costs a connection. */
const longestAway = 1_000;
/** A reader that breaks sooner waits longer each time: without its publication each change breaks it, and all pages ask again. */
const steady = 1_000;
/**
 * How often, at least, our position is sent to the server and a reply is requested. The server drops a connection after
 * a minute without a message; this reader drops it after three requests without a reply.
 */
const defaultBeat = 5_000;
const beatsOfSilence = 3;

/** SQLSTATE of a publication that is missing. */
const undefinedObject = "42704";
/** SQLSTATE of the warning that version 18 gives instead, before it sends no change. */
const skippedPublication = "55000";

const waitsForWriters =
  "realtime waits for the end of all transactions that are writing, in any database of the server: " +
  "forgotten ones are in pg_stat_activity (backend_xid) and pg_prepared_xacts";

/** SQL: as `sql/session/server_incarnation.sql`, which this login may not call. */
const run = "concat(extract(epoch from pg_postmaster_start_time()), '/', pg_last_wal_replay_lsn())";

export class ChangeReader {
  readonly #options: ReaderOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #reading: Reading | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** Reads until `stop`, and reconnects after every loss of the connection. */
  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#reading?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { log, to } = this.#options;
    const { signal } = this.#stopping;
    let wait = firstRetry;
    while (!signal.aborted) {
      let reason: unknown;
      const reading = new Reading(this.#options);
      try {
        this.#reading = reading;
        await reading.run();
      } catch (error) {
        reason = error;
        const remedy = sqlState(error) === undefinedObject ? ` (${missingRemedy})` : "";
        if (!signal.aborted) log.warn({ err: error }, `realtime cannot read changes; trying again${remedy}`);
      } finally {
        reading.close();
      }
      if (reading.liveSince !== undefined) {
        to.lost();
        if (performance.now() - reading.liveSince > steady) wait = firstRetry;
      }
      await sleep(wait * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
      wait = nextWait(wait, reading.liveSince === undefined ? reason : undefined);
    }
  }
}

/** @param error of a reader that did not begin @returns the wait before the try after the next one, in milliseconds */
export const nextWait = (wait: number, error: unknown): number =>
  Math.min(wait * 2, isAway(error) ? longestAway : longestRetry);

/** Also a name without an address, and a host that does not answer: these errors are not the server's. */
const isAway = (error: unknown) => error !== undefined && (sqlState(error) === undefined || isConnectionLoss(error));

/** Reads over one connection. */
class Reading {
  readonly client: pg.Client;
  /** By `performance.now()`. */
  liveSince: number | undefined;
  readonly #to: FrameSink;
  readonly #beatMs: number;
  readonly #log: Logger;
  readonly #plugin = newPlugin();
  #position = 0n;
  /** Requests for a reply since the last message. */
  #silence = 0;

  constructor({ url, to, log, beatMs = defaultBeat }: ReaderOptions) {
    this.#to = to;
    this.#log = log;
    this.#beatMs = beatMs;
    // `replication` is an option of the driver that is missing in its types.
    const options = {
      connectionString: url,
      replication: "database",
      ...keepAlive,
      connectionTimeoutMillis: 10_000,
      application_name: "svc realtime",
      // Values are logged as text. These settings fix its form, independent of the server's settings.
      options: "-c TimeZone=UTC -c DateStyle=ISO",
    };
    this.client = new pg.Client(options as pg.ClientConfig);
  }

  /** Reads until the connection ends. Rejects when it does. */
  async run(): Promise<void> {
    let fail: (error: unknown) => void = () => {};
    const broken = new Promise<never>((_resolve, reject) => {
      fail = reject;
      this.client.on("error", reject);
      this.client.on("end", () => reject(new Error("the replication connection ended")));
      this.client.on("notice", ({ code, message = "", length }) => {
        if (code !== skippedPublication) return;
        reject(Object.assign(new pg.DatabaseError(message, length, "error"), { code: undefinedObject }));
      });
    });
    broken.catch(() => {}); // it may reject before anything awaits it
    await this.client.connect();
    const slot = `svc_${randomBytes(8).toString("hex")}`;
    // Waits until every transaction that is writing now has ended.
    const waits = setTimeout(() => this.#log.warn(waitsForWriters), beatsOfSilence * this.#beatMs);
    await Promise.race([
      this.client.query(`CREATE_REPLICATION_SLOT ${slot} TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT`),
      broken,
    ]).finally(() => clearTimeout(waits));
    const { rows } = await this.client.query(
      `select pg_snapshot_xmax(pg_current_snapshot())::text as next, ${run} as run`,
    );
    const history = createHash("sha256").update(rows[0].run).digest("base64url").slice(0, 12);

    const connection = this.#connection;
    connection.on("copyData", ({ chunk }) => {
      try {
        this.#receive(chunk);
      } catch (error) {
        fail(error); // if it were thrown here, it would end the process
      }
    });
    connection.once("replicationStart", () => {
      this.liveSince = performance.now();
      this.#to.live(BigInt(rows[0].next), history);
    });
    const timer = setInterval(() => {
      if (this.#silence++ < beatsOfSilence) this.#acknowledge(true);
      else fail(new Error("the server stopped responding"));
    }, this.#beatMs);
    try {
      await Promise.race([this.#plugin.start(this.client, slot, "0/0"), broken]);
    } finally {
      clearInterval(timer);
    }
  }

  /** A graceful end would wait for an end of the stream that never comes. The server drops the slot in both cases. */
  close(): void {
    this.#connection.stream.destroy();
  }

  get #connection(): Connection {
    return (this.client as unknown as { connection: Connection }).connection;
  }

  #receive(chunk: Buffer): void {
    this.#silence = 0;
    if (chunk[0] === stillThere) {
      this.#moveTo(chunk.readBigUInt64BE(1));
      if (chunk[17] === 1) this.#acknowledge();
    } else if (chunk[0] === data) {
      this.#to.frame(chunk.subarray(25));
      this.#moveTo(chunk.readBigUInt64BE(1));
    }
  }

  #moveTo(position: bigint): void {
    if (position > this.#position) this.#position = position;
  }

  /**
   * Standby status update: written, flushed, applied; then the clock, in microseconds since 2000. It periodically
   * requests a reply, because a dead connection may give no error for hours.
   */
  #acknowledge(ask = false): void {
    const message = Buffer.alloc(34);
    message[0] = 0x72;
    for (const offset of [1, 9, 17]) message.writeBigUInt64BE(this.#position, offset);
    message.writeBigUInt64BE(BigInt(Date.now() - year2000) * 1000n, 25);
    message[33] = ask ? 1 : 0;
    this.#connection.sendCopyFromChunk(message);
  }
}

const data = 0x77;
const stillThere = 0x6b;

/** The part of the driver's connection that is missing in its types. */
interface Connection {
  on(event: "copyData", listener: (message: { chunk: Buffer }) => void): void;
  once(event: "replicationStart", listener: () => void): void;
  sendCopyFromChunk(chunk: Buffer): void;
  stream: { destroy(): void };
}
