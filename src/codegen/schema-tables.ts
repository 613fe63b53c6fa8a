/**
 * Tables, columns, constraints, indexes, enums, sequences and views: the statements from one snapshot to another.
 * drizzle-kit writes them, in steps that never leave it a question to ask: its questions need a terminal, and without
 * one it ends with nothing written and no error. What it cannot do is written beside it (`schema-columns.ts`,
 * `schema-enums.ts`); policies and grants are not its part (`schema-policies.ts`, `schema-grants.ts`).
 */
import { alterTableColumn, changedColumns, isRetyped } from "./schema-columns.ts";
import { columnsOf, rebuildEnum, rebuiltEnums } from "./schema-enums.ts";
import { diffPrimaryKeys } from "./schema-primary-keys.ts";
import type { Snapshot, Table } from "./schema-snapshot.ts";

export interface TableChanges {
  /** What makes way: constraints, indexes and views that are gone or different. */
  clear: string[];
  change: string[];
  /** What loses data, last, so that a reviewer can save it in between. */
  drop: string[];
  /** Columns that are stored differently afterwards, as `schema.table` and name. */
  retyped: { key: string; column: string }[];
  /** Views that were dropped and are created again. */
  renewed: Set<string>;
}

type Part = "indexes" | "foreignKeys" | "uniqueConstraints" | "checkConstraints";
const parts: readonly Part[] = ["indexes", "foreignKeys", "uniqueConstraints", "checkConstraints"];

/** @param before with today's names: renames have been applied to it */
export async function diffTables(before: Snapshot, after: Snapshot): Promise<TableChanges> {
  const from = bare(before);
  const to = bare(after);
  const retyped = retypedColumns(before, after);

  // 1. What is gone or different, and hangs on columns, makes way.
  const cleared = structuredClone(from);
  for (const [key, table] of Object.entries(cleared.tables)) {
    const wanted = to.tables[key];
    for (const part of wanted ? parts : []) dropDifferent(table[part], wanted?.[part] ?? {});
  }
  const moving = [...retyped.map(({ key }) => key), ...tablesThatLose(before, after)];
  for (const [key, view] of Object.entries(from.views)) {
    const names = moving.map((moved) => from.tables[moved]?.name ?? "");
    const isReader = names.some((name) => (view.definition ?? "").includes(`${name}`));
    if (isReader || view.definition !== to.views[key]?.definition) delete cleared.views[key];
  }
  const clear = await statements(from, cleared);
  const keys = diffPrimaryKeys(cleared, to);

  // 2. New types, then columns that stay, then everything that is new.
  const typed = structuredClone(cleared);
  const rebuilt = rebuiltEnums(cleared, to);
  const own = rebuilt.flatMap((key) => rebuildEnum(cleared, to, key));
  for (const key of rebuilt) {
    for (const { key: table, column } of columnsOf(cleared, cleared.enums[key] ?? { name: "", schema: "", values: [] })) {
      const wanted = to.tables[table]?.columns[column.name]?.default;
      const state = cleared.tables[table]?.columns[column.name];
      if (state) setDefault(state, wanted);
    }
  }
  for (const snapshot of [cleared, typed]) {
    for (const key of rebuilt) Object.assign(snapshot.enums, { [key]: to.enums[key] });
  }
  Object.assign(typed.enums, to.enums);
  Object.assign(typed.sequences, to.sequences);
  const types = await statements(cleared, { ...cleared, enums: typed.enums, sequences: typed.sequences });

  const altered: Snapshot = { ...cleared, enums: typed.enums, sequences: typed.sequences };
  for (const { key, from: old, to: wanted } of changedColumns(cleared, to)) {
    own.push(...alterTableColumn(key, old, wanted));
    const table = altered.tables[key];
    if (table) table.columns[old.name] = { ...old, ...pick(wanted) };
  }

  const grown = structuredClone(to);
  keepGone(grown, altered);
  const added = (await statements(altered, grown)).sort((a, b) => Number(isForeignKey(a)) - Number(isForeignKey(b)));

  // 3. What loses data.
  const drop = await statements(grown, to);
  const renewed = new Set(Object.keys(from.views).filter((key) => !(key in cleared.views)));
  return {
    clear: [...clear, ...keys.drop],
    change: [...types, ...own, ...added, ...keys.add],
    drop,
    retyped,
    renewed,
  };
}
