/**
 * Decodes what the write-ahead log says: the changes of published tables and the messages of every committed transaction.
 * Next hop: `transaction-events.ts` makes events of it. Format:
 * https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html
 */
import type { Pgoutput } from "pg-logical-replication";
import { onDemand } from "../kit/on-demand.ts";
import { TransactionIds } from "./transaction-ids.ts";

/** What was decoded. `changed`, `said`, `traced` and `ended` come between `begun` and `committed`. */
export interface ChangeListener {
  /** @param xid the transaction's 64-bit id */
  begun(xid: bigint): void;
  changed(change: Pgoutput.MessageInsert | Pgoutput.MessageUpdate | Pgoutput.MessageDelete): void;
  truncated(change: Pgoutput.MessageTruncate): void;
  /** A message of svc.emit_message(). */
  said(message: string): void;
  /** The trace of the transaction (sql/realtime/carry_trace.sql). */
  traced(traceparent: string): void;
  /** What members of channels said (sql/realtime/broadcast.sql). It may come outside of a transaction. */
  broadcast(messages: string): void;
  /** A notice that a session has ended, or a user's row has changed (sql/auth/notify_session_end.sql). */
  ended(notice: string): void;
  /** @param at when the server committed, in milliseconds since 1970 by its clock */
  committed(at: number): void;
  /**
   * From now on no change is missed; earlier changes may have been missed.
   *
   * @param before  all transactions that committed earlier have ids below this one
   * @param history in which these ids count. After a crash, a failover or a restore, ids are used again
   */
  live(before: bigint, history: string): void;
  /** Changes may be missed until `live`. */
  lost(): void;
}

/** The log as the server sends it. Frames of one transaction come together, in the order of commits. */
export interface FrameSink {
  /** A message of the plugin `pgoutput`. */
  frame(bytes: Buffer): void;
  /** As in `ChangeListener`. */
  live(before: bigint, history: string): void;
  lost(): void;
}

export function changeDecoder(listener: ChangeListener): FrameSink {
  // Its connection is that of the reader; here it only parses.
  let plugin: ReturnType<typeof newPlugin> | undefined;
  let ids = new TransactionIds(0n);
  const tell = (message: Pgoutput.Message) => {
    switch (message.tag) {
      case "relation":
        for (const column of message.columns) if (asText.has(column.typeOid)) column.parser = (text: string) => text;
        break;
      case "insert":
      case "update":
      case "delete":
        listener.changed(message);
        break;
      case "truncate":
        listener.truncated(message);
        break;
      case "message":
        if (message.prefix === "svc") listener.said(Buffer.from(message.content).toString("utf8"));
        if (message.prefix === "svc_trace") listener.traced(Buffer.from(message.content).toString("latin1"));
        if (message.prefix === "svc_channel") listener.broadcast(Buffer.from(message.content).toString("utf8"));
        if (message.prefix === "svc_auth") listener.ended(Buffer.from(message.content).toString("utf8"));
        break;
    }
  };
  return {
    /** Parses ends of transactions here: the library formats their positions as text, which costs as much as a row. */
    frame(bytes) {
      if (bytes[0] === frames.begin) listener.begun(ids.full(bytes.readUInt32BE(17)));
      else if (bytes[0] === frames.commit) listener.committed(Number(bytes.readBigInt64BE(18) / 1000n) + year2000);
      else {
        plugin ??= newPlugin();
        tell(plugin.parse(bytes));
      }
    },
    live(before, history) {
      plugin = undefined; // what it knows of tables belongs to the connection before
      ids = new TransactionIds(before);
      listener.live(before, history);
    },
    lost: () => listener.lost(),
  };
}

const library = onDemand<typeof import("pg-logical-replication")>("pg-logical-replication");

export const newPlugin = () =>
  new (library().PgoutputPlugin)({ protoVersion: 1, publicationNames: ["svc"], messages: true });

/** The first byte of a frame. */
export const frames = { begin: 0x42, commit: 0x43, relation: 0x52 };

/**
 * Types that Drizzle needs as text, to convert them by the column's mode: times and dates, intervals, and arrays of
 * these and of numeric.
 */
const asText = new Set([1082, 1114, 1184, 1186, 1115, 1182, 1185, 1187, 1231]);

/** The epoch of the server's clock, which counts microseconds. */
export const year2000 = Date.UTC(2000, 0, 1);
