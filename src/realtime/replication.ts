/**
 * Reads the write-ahead log: the changes of published tables and the messages of every committed transaction, in commit
 * order, from all clients of the database. The slot is temporary: a process that dies leaves nothing behind. A process
 * that lost its connection starts with a new slot and reports a gap.
 * Next hop: `transaction-events.ts` makes events of it. Format: https://www.postgresql.org/docs/current/protocol-replication.html
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type Pgoutput, PgoutputPlugin } from "pg-logical-replication";
import type { Logger } from "pino";

/** What the reader tells. `changed`, `said`, `traced` and `ended` come between `begun` and `committed`. */
export interface ChangeListener {
  /** @param xid the transaction's 64-bit id */
  begun(xid: bigint): void;
  changed(change: Pgoutput.MessageInsert | Pgoutput.MessageUpdate | Pgoutput.MessageDelete): void;
  truncated(change: Pgoutput.MessageTruncate): void;
  /** A message of svc.emit_message(). */
  said(message: string): void;
  /** Of what trace the transaction is a part (sql/realtime/carry_trace.sql). */
  traced(traceparent: string): void;
  /** A notice that a session is over, or a user's row another one (sql/auth/notify_session_end.sql). */
  ended(notice: string): void;
  /** @param at when the server committed, in milliseconds since 1970 by its clock */
  committed(at: number): void;
  /** From now on nothing is missed; whatever happened before this moment may have been. */
  live(): void;
  /** Changes are not seen any more, until `live`. */
  lost(): void;
}

export interface ReaderOptions {
  /** A login with REPLICATION, connected directly: poolers do not pass the protocol on. */
  url: string;
  listener: ChangeListener;
  log: Logger;
  /** In milliseconds. (Default: 5000) */
  beatMs?: number;
}

/** In milliseconds. */
const firstRetry = 200;
const longestRetry = 10_000;
/**
 * How often the server is told how far we are, at least, and asked to answer. It gives up on those it has not heard of
 * for a minute; we on it when three questions went by in silence.
 */
const defaultBeat = 5_000;
const beatsOfSilence = 3;

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
    const { log, listener } = this.#options;
    const { signal } = this.#stopping;
    for (let wait = firstRetry; !signal.aborted; wait = Math.min(wait * 2, longestRetry)) {
      const reading = new Reading(this.#options);
      try {
        this.#reading = reading;
        await reading.run();
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, "realtime cannot read changes; trying again");
      } finally {
        reading.close();
      }
      if (reading.wasLive) {
        listener.lost();
        wait = firstRetry;
      }
      await sleep(wait * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
    }
  }
}

/** One connection's worth of reading. */
class Reading {
  readonly client: pg.Client;
  wasLive = false;
  readonly #listener: ChangeListener;
  readonly #beatMs: number;
  readonly #plugin = new PgoutputPlugin({ protoVersion: 1, publicationNames: ["svc"], messages: true });
  #position = 0n;
  /** High half of the 64-bit transaction ids, and the id that it was known from. */
  #recent = 0n;
  /** Questions since something came. */
  #silence = 0;

  constructor({ url, listener, beatMs = defaultBeat }: ReaderOptions) {
    this.#listener = listener;
    this.#beatMs = beatMs;
    // `replication` is an option of the driver that its types do not name.
    const options = {
      connectionString: url,
      replication: "database",
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
      application_name: "svc realtime",
      // Values are logged as text, in this form whatever the server's settings are.
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
    });
    broken.catch(() => {}); // it may come before anybody waits for it
    await this.client.connect();
    const slot = `svc_${randomBytes(8).toString("hex")}`;
    // Waits until every transaction that is writing now has ended.
    await Promise.race([
      this.client.query(`CREATE_REPLICATION_SLOT ${slot} TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT`),
      broken,
    ]);
    const { rows } = await this.client.query("select pg_snapshot_xmax(pg_current_snapshot())::text as next");
    this.#recent = BigInt(rows[0].next);

    const connection = this.#connection;
    connection.on("copyData", ({ chunk }) => {
      try {
        this.#receive(chunk);
      } catch (error) {
        fail(error); // thrown on, it would end the process
      }
    });
    connection.once("replicationStart", () => {
      this.wasLive = true;
      this.#listener.live();
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

  /** The polite goodbye waits for an end of the stream that never comes; the server lets go of the slot either way. */
  close(): void {
    this.#connection.stream.destroy();
  }

  get #connection(): Connection {
    return (this.client as unknown as { connection: Connection }).connection;
  }

  #receive(chunk: Buffer): void {
    this.#silence = 0;
    if (chunk[0] === keepAlive) {
      this.#moveTo(chunk.readBigUInt64BE(1));
      if (chunk[17] === 1) this.#acknowledge();
    } else if (chunk[0] === data) {
      this.#read(chunk.subarray(25));
      this.#moveTo(chunk.readBigUInt64BE(1));
    }
  }

  /** The ends of transactions are read here: the library writes their positions out as text, which costs as much as a row. */
  #read(bytes: Buffer): void {
    if (bytes[0] === begin) this.#listener.begun(this.#fullId(bytes.readUInt32BE(17)));
    else if (bytes[0] === commit) this.#listener.committed(Number(bytes.readBigInt64BE(18) / 1000n) + year2000);
    else this.#tell(this.#plugin.parse(bytes));
  }

  #tell(message: Pgoutput.Message): void {
    switch (message.tag) {
      case "relation":
        for (const column of message.columns) if (asText.has(column.typeOid)) column.parser = (text: string) => text;
        break;
      case "insert":
      case "update":
      case "delete":
        this.#listener.changed(message);
        break;
      case "truncate":
        this.#listener.truncated(message);
        break;
      case "message":
        if (message.prefix === "svc") this.#listener.said(Buffer.from(message.content).toString("utf8"));
        if (message.prefix === "svc_trace") this.#listener.traced(Buffer.from(message.content).toString("latin1"));
        if (message.prefix === "svc_auth") this.#listener.ended(Buffer.from(message.content).toString("utf8"));
        break;
    }
  }

  /** The log has the lower half of an id. The nearest to a recent one is meant: less than 2^31 run at a time. */
  #fullId(lower: number): bigint {
    const low = BigInt(lower);
    const near = (this.#recent & ~0xffff_ffffn) | low;
    const id = [near - 2n ** 32n, near, near + 2n ** 32n].reduce((best, candidate) =>
      distance(candidate, this.#recent) < distance(best, this.#recent) ? candidate : best,
    );
    if (id > this.#recent) this.#recent = id;
    return id;
  }

  #moveTo(position: bigint): void {
    if (position > this.#position) this.#position = position;
  }

  /**
   * Standby status update: written, flushed, applied; then the clock, in microseconds since 2000. A connection that has
   * died says nothing by itself for hours, so now and then we ask for an answer.
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

/**
 * What Drizzle wants as text, to make of it what the column's mode says: times and dates, intervals, and arrays of these
 * and of numeric.
 */
const asText = new Set([1082, 1114, 1184, 1186, 1115, 1182, 1185, 1187, 1231]);

/** The server's clock begins then, and counts microseconds. */
const year2000 = Date.UTC(2000, 0, 1);

const data = 0x77;
const keepAlive = 0x6b;
const begin = 0x42;
const commit = 0x43;

const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a);

/** The part of the driver's connection that its types leave out. */
interface Connection {
  on(event: "copyData", listener: (message: { chunk: Buffer }) => void): void;
  once(event: "replicationStart", listener: () => void): void;
  sendCopyFromChunk(chunk: Buffer): void;
  stream: { destroy(): void };
}
