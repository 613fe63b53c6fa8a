/**
 * Shared by the commands that inspect the queue, runs and files: a connection as svc_system, and following changes.
 * Next hop: `jobs.ts` for an example; `table.ts` for what is printed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { EffectiveConfig } from "../config/config.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { short } from "../postgres/schema-names.ts";
import { type DatabaseCommand, databaseCommand } from "./command.ts";
import type { Arguments, Definition, Values } from "./define.ts";
import { output } from "./output.ts";
import { stopSignal } from "./signal.ts";
import { type Columns, cellsOf, paint, printable } from "./table.ts";

/**
 * A pool for one command. Its errors are ignored: `end()` does not wait for the server, so a private cluster that stops
 * with the command may break idle connections. Without a listener that would crash the process.
 *
 * @param name the connections' application_name
 */
export function commandPool(connectionString: string, name: string, max = 1): pg.Pool {
  const pool = new pg.Pool({ connectionString, max, application_name: name });
  pool.on("error", () => {});
  return pool;
}

/**
 * A command that works as svc_system, which bypasses row-level security. It throws a DefinitionError when the database
 * lacks svc's schemas.
 */
export const systemCommand = <A extends Arguments = Record<never, never>>(
  definition: Omit<DatabaseCommand<A>, "run"> & {
    run: (pool: pg.Pool, args: Values<A>, config: EffectiveConfig) => Promise<unknown>;
  },
): Definition =>
  databaseCommand("system", {
    ...definition,
    run: async ({ urls }, args: Values<A>, config) => {
      const pool = commandPool(urls.system, "svc command", 2);
      try {
        await requireMigrated(pool);
        await definition.run(pool, args, config);
      } finally {
        await pool.end();
      }
    },
  });

/** @param name of a function of `sql/` @returns its rows */
export async function rowsOf<Row extends object>(pool: pg.Pool, name: string, ...values: unknown[]): Promise<Row[]> {
  const places = values.map((_, index) => `$${index + 1}`);
  return (await pool.query<Row>(`select * from svc_private.${name}(${places})`, values)).rows;
}

/** A table's name in the database, without the quotes of PostgreSQL. */
export const withoutQuotes = (name: string): string => name.replaceAll('"', "");

/** @returns the table that is called so: with quotes or without, and with the schema `public` or without */
export const tableNamed = <Table extends { name: string }>(tables: readonly Table[], name: string): Table | undefined =>
  tables.find((table) => {
    const plain = withoutQuotes(table.name);
    return [table.name, plain, short(plain)].includes(name);
  });

/** @param name of a function of `sql/` that returns one value */
export async function resultOf<Value>(pool: pg.Pool, name: string, ...values: unknown[]): Promise<Value> {
  const [row] = await rowsOf<Record<string, Value>>(pool, name, ...values);
  return Object.values(row ?? {})[0] as Value;
}

/** @throws DefinitionError when the database lacks svc's schemas */
export async function requireMigrated(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query("select to_regnamespace('svc_private') is null as bare");
  if (rows[0].bare) throw new DefinitionError("This database was never migrated.", { hint: "Run svc migrate first." });
}

/**
 * The id of the user that an option names.
 *
 * @param text an id or an e-mail address
 * @param option its name. (Default: `--as`)
 * @throws DefinitionError when there is none, or no schema for users
 */
export async function findUser(pool: pg.Pool, text: string, option = "--as"): Promise<string> {
  await requireMigrated(pool);
  const { rows } = await pool.query("select auth.find_user_id($1) as id", [text]);
  if (rows[0].id) return rows[0].id;
  throw new DefinitionError(`There is no user ${text}.`, { hint: `${option} takes an id or an e-mail address.` });
}

/**
 * Prints a line for each row whose state has changed. Polls once a second until Ctrl+C; rows that exist at the start are not
 * printed.
 *
 * @param look returns rows, newest first
 * @param gone the state of a row that has disappeared (Default: nothing is printed)
 */
export async function follow<Row extends { id: string }>(
  look: () => Promise<Row[]>,
  columns: Columns<Row>,
  stateOf: (row: Row) => string,
  gone?: string,
): Promise<void> {
  const known = new Map<string, string>();
  const signal = stopSignal();
  for (let first = true; !signal.aborted; first = false) {
    const rows = await look();
    for (const row of rows.toReversed()) {
      const state = stateOf(row);
      if (!first && known.get(row.id) !== state) printLine(row, ...cellsOf(columns, row));
      known.set(row.id, state);
    }
    const present = new Set(rows.map(({ id }) => id));
    for (const id of [...known.keys()].filter((one) => !present.has(one))) {
      known.delete(id);
      if (gone && rows.length < mostFollowed) printLine({ id, state: gone }, id, paint(gone, 32));
    }
    await sleep(1_000, undefined, { signal }).catch(() => {});
  }
}

const printLine = (value: unknown, ...cells: readonly string[]) =>
  void process.stdout.write(`${output.json ? JSON.stringify(value) : printable(cells.join("  "))}\n`);

/** With this many rows, a missing row may only have moved past the limit. */
export const mostFollowed = 1_000;
