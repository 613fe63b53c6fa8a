/**
 * Tables, columns, constraints, indexes, enums, sequences and views: the statements between two snapshots. drizzle-kit
 * writes them, in steps that leave it nothing to ask: its questions need a terminal, and without one it exits without
 * output or error. Cases that it gets wrong are handled elsewhere (`schema-columns.ts`, `schema-enums.ts`,
 * `schema-primary-keys.ts`), as are policies and grants.
 */
import { isDeepStrictEqual } from "node:util";
import { takeColumns } from "./schema-columns.ts";
import { clearColumns, clearDependents, findRegenerated, isOtherType } from "./schema-dependents.ts";
import { takeEnums } from "./schema-enums.ts";
import { shortenIdentity } from "./schema-identities.ts";
import { takePrimaryKeys } from "./schema-primary-keys.ts";
import { clearViews, orderViews } from "./schema-views.ts";
import { type ColumnRef, dependents, type Snapshot, type Table } from "./snapshot.ts";

export interface TableChanges {
  /** Drops of constraints, indexes and views that are removed or changed. */
  clear: string[];
  change: string[];
  /** Statements that lose data. They come last, so that a reviewer can save the data before. */
  drop: string[];
  /** Columns whose storage changes: policies that reference them must be dropped first. */
  retyped: ColumnRef[];
  /** Those of them that are dropped and added again, and so lose their grants. */
  regenerated: ColumnRef[];
  /** Views that are dropped and recreated. */
  renewed: Set<string>;
}

/** @param before with the new names: renames have been applied */
export async function diffTables(before: Snapshot, after: Snapshot): Promise<TableChanges> {
  const start = bare(before);
  const end = bare(after);
  const keys = takePrimaryKeys(start, end);
  const enums = takeEnums(start, end);
  const columns = takeColumns(start, end);
  const typesOf = ({ tables }: Snapshot, { key, column }: ColumnRef) => tables[key]?.columns[column];
  const others = columns.retyped.filter((one) => isOtherType(typesOf(before, one), typesOf(after, one)));
  const regenerated = findRegenerated(start, end, [...enums.retyped, ...columns.retyped]);
  const retyped = [...enums.retyped, ...columns.retyped, ...regenerated];

  const free = structuredClone(start);
  clearDifferent(free, end);
  clearDependents(free, [...enums.retyped, ...others], regenerated);
  const cleared = structuredClone(free);
  clearColumns(cleared, end, regenerated);
  const renewed = clearViews(cleared, end, [...retyped.map(({ key }) => key), ...losing(start, end)]);

  const typed = structuredClone(cleared);
  Object.assign(typed.enums, end.enums);
  Object.assign(typed.sequences, end.sequences);

  const grown = structuredClone(end);
  keepGone(grown, typed);
  const added = await statements(typed, grown);
  const isForeignKey = (statement: string) => statement.includes(" FOREIGN KEY ");

  const change = [
    ...(await statements(cleared, typed)),
    ...enums.statements,
    ...columns.statements,
    ...added.filter((statement) => !isForeignKey(statement)),
    ...keys.add,
    // After the keys and unique indexes that they reference.
    ...added.filter(isForeignKey),
  ];
  const clear = [...(await statements(start, free)), ...(await statements(free, cleared)), ...keys.drop];
  return {
    clear: orderViews(clear, start.views, end.views),
    change: orderViews(change, start.views, end.views),
    drop: await statements(grown, end),
    retyped,
    regenerated,
    renewed,
  };
}

/** Without policies and schemas: svc writes policies, and an administrator creates schemas. */
function bare({ svc: _, ...snapshot }: Snapshot): Snapshot {
  // The ids, which no statement reads, would make equal snapshots differ.
  const none = { id: "", prevId: "", schemas: {}, roles: {}, policies: {} };
  const copy = { ...structuredClone(snapshot), ...none } as Snapshot;
  for (const table of Object.values(copy.tables)) Object.assign(table, { policies: {}, isRLSEnabled: false });
  return copy;
}

/** Removes dependent objects of remaining tables that are gone or changed. */
function clearDifferent(snapshot: Snapshot, end: Snapshot): void {
  for (const [key, table] of Object.entries(snapshot.tables)) {
    const wanted = end.tables[key];
    for (const part of wanted ? dependents : []) {
      for (const name of Object.keys(table[part])) {
        if (JSON.stringify(table[part][name]) !== JSON.stringify(wanted?.[part][name])) delete table[part][name];
      }
    }
  }
}

/** Tables that lose columns, or are dropped. */
const losing = (start: Snapshot, end: Snapshot): string[] =>
  Object.entries(start.tables).flatMap(([key, { columns }]) =>
    Object.keys(columns).every((name) => name in (end.tables[key]?.columns ?? {})) ? [] : [key],
  );

/** Adds back dropped objects, so that they are dropped in a separate step. */
function keepGone(snapshot: Snapshot, from: Snapshot): void {
  snapshot.enums = { ...from.enums, ...snapshot.enums };
  snapshot.sequences = { ...from.sequences, ...snapshot.sequences };
  for (const [key, table] of Object.entries(from.tables)) {
    const there: Table | undefined = snapshot.tables[key];
    if (there) there.columns = { ...table.columns, ...there.columns };
    else snapshot.tables[key] = table;
  }
}

/** Runs drizzle-kit. No step both adds and drops, so it sees no rename and never prompts. */
async function statements(from: Snapshot, to: Snapshot): Promise<string[]> {
  // Most steps change nothing. For 300 tables drizzle-kit needs half a second of a processor to find that.
  if (isDeepStrictEqual(from, to)) return [];
  const { generateMigration } = await import("@svc/dev");
  const written = await generateMigration(from, to);
  const types = writtenTypes(to);
  return written.map((statement) => {
    const typed = types.reduce((text, type) => text.replaceAll(`"${type}"`, () => type), statement);
    return shortenIdentity(typed.replaceAll("\t", "  ").trim());
  });
}

/**
 * Types of `customType` that are SQL and not a bare name: `billing.price`, `"char"`, `geography(Point)`. drizzle-kit quotes
 * each of them as one name.
 */
function writtenTypes({ tables }: Snapshot): string[] {
  const columns = Object.values(tables).flatMap((table) => Object.values(table.columns));
  const types = columns.filter((column) => !column.typeSchema).map(({ type }) => type.replace(/(\[\d*\])+$/, ""));
  return [...new Set(types)].filter((type) => /[."(]/.test(type));
}
