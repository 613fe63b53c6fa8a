/**
 * Constraints and indexes that differ only in name. Drizzle derives most names from table and columns, so a rename
 * changes them. Renaming the constraint avoids a scan, and works even if other objects depend on it.
 */
import { qualified, quote, split } from "../../postgres/schema-names.ts";
import { dependents, type Snapshot } from "./snapshot.ts";

const parts = [...dependents, "compositePrimaryKeys"] as const;

/** Renames them in the first snapshot. @returns the statements */
export function followNames(before: Snapshot, after: Snapshot): string[] {
  const statements: string[] = [];
  for (const [key, table] of Object.entries(before.tables)) {
    for (const part of after.tables[key] ? parts : []) {
      const had: Record<string, Named> = table[part];
      const wants: Record<string, Named> = after.tables[key]?.[part] ?? {};
      const fresh = Object.values(wants).filter(({ name }) => !(name in had));
      for (const old of Object.values(had).filter(({ name }) => !(name in wants))) {
        const same = fresh.findIndex((item) => definition(item) === definition(old));
        const [next] = same < 0 ? [] : fresh.splice(same, 1);
        if (!next) continue;
        statements.push(renaming(key, part, old.name, next.name));
        delete had[old.name];
        had[next.name] = next;
      }
    }
  }
  return statements;
}

interface Named {
  name: string;
}

const definition = (item: Named): string => JSON.stringify({ ...item, name: "" });

function renaming(key: string, part: (typeof parts)[number], from: string, to: string): string {
  const index = `${split(key).schema}.${from}`;
  return part === "indexes"
    ? `alter index ${qualified(index)} rename to ${quote(to)};`
    : `alter table ${qualified(key)} rename constraint ${quote(from)} to ${quote(to)};`;
}
