/**
 * For development: finds writes that a handler has built and not awaited. Drizzle sends a statement when it is awaited,
 * so without this an `await` that is missing would lose the write without a word.
 */
import { getTableName, type Table } from "drizzle-orm";
import type { PgDialect } from "drizzle-orm/pg-core";
import type { Logger } from "pino";
import { callSites, traceAbove } from "../kit/call-sites.ts";

type Verb = "insert" | "update" | "delete";

/** What Drizzle's database and its builders have, of which its types tell only a part. */
type Writer = { [verb in Verb]: (table: Table) => { dialect: PgDialect } };
type Transacting = { transaction(run: (inner: object) => unknown, ...options: unknown[]): Promise<unknown> };

interface Write {
  call: string;
  trace: Error;
}

const unsent = new WeakMap<object, Set<Write>>();

/** Watches the writes of a database until `tellUnsent`. A write is sent, or part of one, once its text is built. */
export function watchWrites(database: object, writes = new Set<Write>()): void {
  unsent.set(database, writes);
  const writer = database as Writer;
  for (const verb of ["insert", "update", "delete"] as const) {
    const build = writer[verb].bind(database);
    const watched = (table: Table) => {
      const write = { call: `${verb}(${getTableName(table)})`, trace: traceAbove(watched) };
      writes.add(write);
      return noticing(build(table), () => writes.delete(write));
    };
    writer[verb] = watched;
  }
}

/** A database as one call sees it that has it in common with others: its writes are watched, also those of its transactions. */
export function watchedCopy<Database extends object>(shared: Database): Database {
  const writes = new Set<Write>();
  const watch = <One extends object>(one: One): One => {
    watchWrites(one, writes);
    const transact = (one as unknown as Transacting).transaction.bind(one);
    return Object.assign(one, {
      transaction: ((run, ...options) =>
        transact((inner) => run(watch(inner)), ...options)) as Transacting["transaction"],
    });
  };
  return watch(Object.create(shared));
}

/** Calls `built` when the text of the builder's statement is made: `execute`, `then`, `toSQL` and subqueries make it. */
function noticing<Builder extends { dialect: PgDialect }>(builder: Builder, built: () => void): Builder {
  const { dialect } = builder;
  const noticed = <Of extends (...args: never[]) => unknown>(make: Of) =>
    ((...args) => {
      built();
      return make.apply(dialect, args);
    }) as Of;
  builder.dialect = Object.assign(Object.create(dialect) as PgDialect, {
    buildInsertQuery: noticed(dialect.buildInsertQuery),
    buildUpdateQuery: noticed(dialect.buildUpdateQuery),
    buildDeleteQuery: noticed(dialect.buildDeleteQuery),
  });
  return builder;
}

/** Logs each write that was not sent, as an error: tests show those alone. @param name of the database in the code, such as `ctx.db` */
export function tellUnsent(log: Logger, name: string, database: object | undefined): void {
  for (const { call, trace } of (database && unsent.get(database)) ?? []) {
    const [site] = callSites(trace);
    const at = site && `${site.path}:${site.line}:${site.column}`;
    log.error({ at }, `${name}.${call} was built and not awaited, so it did nothing: an await or a return is missing`);
  }
}
