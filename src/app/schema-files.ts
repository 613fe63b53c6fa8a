/**
 * Loads the schema files, and checks that each table and each export has one definition. Of two with one name the later export
 * would hide the earlier one; of two auth tables, foreign keys point to one, queries use the other, and only one follows auth.ts.
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { is, isTable } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import type { EffectiveConfig } from "../config/config.ts";
import { checkTable } from "../crud/check-table.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { tableConfig } from "../kit/table-config.ts";
import { short } from "../postgres/schema-names.ts";

interface SchemaFile {
  file: string;
  exports: Record<string, unknown>;
}

type SchemaConfig = Pick<EffectiveConfig, "schema" | "cwd">;

/**
 * The exports of each schema file.
 *
 * @throws DefinitionError when a file is missing, for tables that PostgreSQL cannot have, and for two with one name
 */
export async function loadSchemaFiles({ schema, cwd }: SchemaConfig): Promise<SchemaFile[]> {
  const missing = schema.find((file) => !existsSync(file));
  if (missing) {
    throw new DefinitionError(`There is no ${missing}.`, {
      hint: "Create it, or set schema in svc.config.ts. Without it every table would seem to be gone.",
    });
  }
  const files = await Promise.all(
    schema.map(async (file) => ({ file, exports: await import(pathToFileURL(file).href) })),
  );
  for (const { file, exports } of files) {
    for (const value of Object.values(exports)) if (isTable(value)) checkTable(value, relative(cwd, file));
  }
  refuseTwins(files, cwd);
  return files;
}

/** The exports of all schema files. An application without tables of its own has no `schema.ts`. */
export async function loadSchema(config: SchemaConfig & Pick<EffectiveConfig, "rootDir">) {
  const { rootDir, schema } = config;
  const isDefault = schema.length === 1 && schema[0] === join(rootDir, "schema.ts");
  const files = isDefault && !existsSync(String(schema[0])) ? [] : await loadSchemaFiles(config);
  return Object.assign({}, ...files.map(({ exports }) => exports)) as Record<string, unknown>;
}

interface Place {
  table: PgTable;
  name: string;
  file: string;
}

/** A table that is exported twice is one table. */
function refuseTwins(files: readonly SchemaFile[], cwd: string): void {
  const [byTable, byExport] = [new Map<string, Place>(), new Map<string, Place>()];
  for (const { file, exports } of files) {
    for (const [name, table] of Object.entries(exports)) {
      if (!is(table, PgTable)) continue;
      const { schema = "public", name: tableName } = tableConfig(table);
      const key = short(`${schema}.${tableName}`);
      const place = { table, name, file: relative(cwd, file) };
      const twin = byTable.get(key) ?? place;
      if (twin.table !== table) throw schema === "auth" ? forked(key, twin, place) : twins(key, twin, place);
      const namesake = byExport.get(name) ?? place;
      if (namesake.table !== table) throw namesakes(name, namesake, place);
      byTable.set(key, twin);
      byExport.set(name, namesake);
    }
  }
}

const at = ({ name, file }: Place) => `${name} in ${file}`;

const twins = (table: string, first: Place, second: Place) =>
  new DefinitionError(`Two tables of the schema are named "${table}": ${at(first)}, and ${at(second)}.`, {
    hint: "Give one of them another name in its pgTable().",
  });

const namesakes = (name: string, first: Place, second: Place) =>
  new DefinitionError(`Two tables are exported as "${name}": in ${first.file}, and in ${second.file}.`, {
    hint: "Give one of the exports another name: all schema files are one schema.",
  });

const forked = (table: string, first: Place, second: Place) =>
  new DefinitionError(`The schema has two definitions of ${table}: ${at(first)}, and ${at(second)}.`, {
    hint:
      "Either use what `svc codegen` writes, generated/auth-schema.ts, and take your own definition out; " +
      "or own it: set codegen.authSchema: false in svc.config.ts, delete the generated file and export your own alone.",
  });
