/**
 * `svc db slow`, `svc db locks`, `svc db stats`: statistics of a running database. Literal values of statements are never shown.
 * Next hop: `sql/ops/`, which a DBA reads from psql as well.
 */
import pg from "pg";
import { DefinitionError } from "../../kit/definition-error.ts";
import { say } from "../command.ts";
import { systemCommand } from "../inspect.ts";
import { limit } from "../options.ts";
import { output, printJson } from "../output.ts";
import { cell, table, time } from "../table.ts";

type Row = Record<string, unknown>;

export const slow = systemCommand({
  args: { limit },
  run: async (pool, { limit }) => {
    const rows = await ask(pool, "select * from svc_private.slow_statements($1)", [limit]);
    if (output.json) return printJson(rows);
    show(["calls", "total ms", "mean ms", "longest ms", "rows each", "hit %", "role", "statement"], rows);
  },
});

export const locks = systemCommand({
  run: async (pool) => {
    const blocked = await ask(pool, "select * from svc_private.ops_blocked");
    const open = await ask(pool, "select * from svc_private.ops_vacuum_holders");
    if (output.json) return printJson({ blocked, open });
    const heads = new Set(blocked.map(({ head }) => head));
    for (const head of heads) process.stdout.write(chain(blocked.filter((row) => row.head === head)));
    if (blocked.length === 0) process.stdout.write("No session waits for a lock.\n");
    if (open.length === 0) process.stdout.write("No transaction has been open for more than five seconds.\n");
    else {
      process.stdout.write("\nTransactions that stay open:\n");
      const head = ["pid", "role", "application", "state", "open s", "in state s", "holds back", "last statement"];
      show([...head, "to end it"], open);
    }
  },
});

/** The sessions that wait for one session, directly or indirectly. */
function chain(rows: Row[]): string {
  const [first = {}] = rows;
  // PostgreSQL names no session for a prepared transaction: it has none.
  const isPrepared = first.head === 0;
  const session = `${first.head} (${first.head_application || "no name"}) is ${first.head_state}, its transaction open for ${first.head_transaction_seconds} s:\n  ${first.head_statement}\n`;
  const waiting = rows.map(
    (row) =>
      `  ${"  ".repeat(Number(row.depth) - 1)}${row.pid} (${row.application || "no name"}) waits ${row.waiting_seconds} s for ${row.wanted}:\n  ${"  ".repeat(Number(row.depth))}${row.statement}\n`,
  );
  const head = isPrepared ? "A prepared transaction blocks, one of those below:\n" : session;
  const end = isPrepared ? "rollback prepared, as below." : `select pg_terminate_backend(${first.head});`;
  return `${head}${waiting.join("")}  To end the first: ${end}\n`;
}

export const stats = systemCommand({
  args: { limit },
  run: async (pool, { limit }) => {
    const [database] = await ask(pool, "select * from svc_private.ops_database");
    const tables = await ask(pool, "select * from svc_private.ops_tables limit $1", [limit]);
    const indexes = await ask(pool, "select * from svc_private.ops_indexes limit $1", [limit]);
    const slots = await ask(pool, "select * from svc_private.ops_slots");
    const ages = await ask(pool, "select * from svc_private.ops_ages");
    if (output.json) return printJson({ database, tables, indexes, slots, ages });
    say(describe(database ?? {}));
    const head = ["table", "rows", "total", "indexes", "dead", "dead %", "vacuumed", "analysed", "whole scans"];
    show([...head, "by index", "rows each", "hit %"], tables);
    if (indexes.length > 0) show(["\nindexes", "table", "index", "bytes", "why"], indexes);
    if (slots.length > 0) show(["\nslot", "kind", "database", "temporary", "active", "reader", "log", "keeps"], slots);
    show(["\noldest", "age", "autovacuum acts at"], ages);
  },
});

const describe = (row: Row) =>
  `${row.name}: ${amount(row.bytes)}, ${row.connections} of ${row.connection_limit} connections, ` +
  `${row.hit_percent ?? "-"} % of reads from memory, ${row.rollbacks} rollbacks, ${row.deadlocks} deadlocks, ` +
  `${amount(row.temp_bytes)} spilled to disk, since ${time(row.statistics_since as Date | null)}.\n`;

/** @throws DefinitionError with the remedy, where the database suggests one */
async function ask(pool: pg.Pool, text: string, values: unknown[] = []): Promise<Row[]> {
  try {
    const { rows } = await pool.query<Row>(text, values);
    return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])));
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== "55000") throw error;
    throw new DefinitionError(`${error.message}.`, error.hint ? { hint: error.hint } : {});
  }
}

/** `numeric` and `bigint` arrive as text; these values all fit in a number. */
const plain = (value: unknown) => (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value);

function show(head: string[], rows: Row[]): void {
  const written = ([name, value]: [string, unknown]) =>
    cell(name.endsWith("bytes") && value !== null ? amount(value) : value);
  process.stdout.write(
    table(
      head,
      rows.map((row) => Object.entries(row).map(written)),
    ),
  );
}

function amount(value: unknown): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = Number(value ?? 0);
  let unit = 0;
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024;
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}
