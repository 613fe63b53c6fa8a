/**
 * Checks that each auth table has one definition: in the generated file or in the application's own. With two, foreign
 * keys point to one, queries use the other, and only one follows auth.ts.
 */
import { relative } from "node:path";
import { is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { DefinitionError } from "../kit/definition-error.ts";
import { tableConfig } from "../kit/table-config.ts";

export interface SchemaFile {
  file: string;
  exports: Record<string, unknown>;
}

/**
 * @param cwd the application's folder
 * @throws DefinitionError that names both places
 */
export function refuseForkedAuth(files: readonly SchemaFile[], cwd: string): void {
  const known = new Map<string, { table: PgTable; place: string }>();
  for (const { file, exports } of files) {
    for (const [name, table] of Object.entries(exports)) {
      if (!is(table, PgTable) || tableConfig(table).schema !== "auth") continue;
      const key = tableConfig(table).name;
      const place = `${name} in ${relative(cwd, file)}`;
      const other = known.get(key);
      if (!other) known.set(key, { table, place });
      else if (other.table !== table) throw forked(key, other.place, place);
    }
  }
}

const forked = (table: string, first: string, second: string) =>
  new DefinitionError(`The schema has two definitions of auth.${table}: ${first}, and ${second}.`, {
    hint:
      "Either use what `svc codegen` writes, generated/auth-schema.ts, and take your own definition out; " +
      "or own it: set codegen.authSchema: false in svc.config.ts, delete the generated file and export your own alone.",
  });
