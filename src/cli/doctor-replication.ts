/**
 * Checks of `svc doctor` on replication: whether another replication slot and sender are available, and whether an
 * unused slot retains WAL, which fills the disk.
 * Next hop: `sql/realtime/replication_state.sql`.
 */
import type pg from "pg";
import { advice, type Finding, ok, wrong } from "./doctor-connections.ts";

export interface ReplicationState {
  wal_level: string;
  slots: number;
  slot_limit: number;
  senders: number;
  sender_limit: number;
  /** The most WAL that a slot may retain, in bytes; null without a limit. */
  keep_bytes: string | null;
  held: { name: string; active: boolean; status: string | null; bytes: number }[];
}

/** In bytes: a reader this far behind is too slow or stuck. */
const behind = 256 * 1024 * 1024;

export async function replicationState(pool: pg.Pool): Promise<ReplicationState> {
  const { rows } = await pool.query("select * from svc_private.replication_state()");
  return rows[0];
}

export function examineReplication(state: ReplicationState): Finding[] {
  if (state.wal_level !== "logical") {
    return [wrong(`wal_level is ${state.wal_level}: realtime stays degraded.\n  Set logical, and restart.`)];
  }
  const findings: Finding[] = [];
  const advise = (condition: boolean, text: string) => condition && findings.push(advice(text));
  for (const [what, used, limit, setting] of [
    ["replication slots", state.slots, state.slot_limit, "max_replication_slots"],
    ["senders of the log", state.senders, state.sender_limit, "max_wal_senders"],
  ] as const) {
    const text = `${used} of ${limit} ${what} are in use, and every API process takes one.\n  Raise ${setting}.`;
    if (used >= limit) findings.push(wrong(text));
    else advise(limit - used < 2, text);
  }
  for (const { name, active, status, bytes } of state.held) {
    if (status === "lost") advise(true, `The slot ${name} has lost its log and is useless.\n  ${drop(name)}`);
    else if (!active)
      advise(true, `No process reads the slot ${name}: it retains ${size(bytes)} of log.\n  ${drop(name)}`);
    else advise(bytes > behind, `The reader of the slot ${name} is ${size(bytes)} of log behind.`);
  }
  advise(
    state.keep_bytes === null,
    "max_slot_wal_keep_size is not set: an unused slot can fill the disk.\n  Set it to what the disk can spare.",
  );
  const keep = state.keep_bytes === null ? "" : `, each may keep ${size(Number(state.keep_bytes))} of log`;
  const text = `replication: ${state.slots} of ${state.slot_limit} slots in use${keep}`;
  return findings.some(({ kind }) => kind === "wrong") ? findings : [ok(text), ...findings];
}

const drop = (name: string) => `If nothing needs it: select pg_drop_replication_slot('${name}');`;

const size = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MiB`;
