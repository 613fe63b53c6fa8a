/**
 * Keeps runtime tables out of applications: names with the prefix `_system_` or `_gencow_`, and the schemas of the
 * platform and its job queue, are not allowed in the schema, generated CRUD or a migration. No comment allows them.
 */
import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { is } from "drizzle-orm";
import { PgSchema, PgTable } from "drizzle-orm/pg-core";
import type { LoadedApp } from "../contract/loaded-app.ts";
import { isOffered } from "../kit/offered-tables.ts";
import { tableConfig } from "../kit/table-config.ts";
import type { Finding } from "./report.ts";
import { placeOf } from "./source.ts";

const isRuntimeSchema = (name = ""): boolean => /^(svc|svc_hidden|svc_private|graphile_worker)$/i.test(name);
const isRuntimeName = (name: string): boolean => /^(_system_|_gencow_)/i.test(name);
const remedy = "Remove it: the platform creates and changes it. Use its data through the context.";
const modelled = (name: string) => ({ what: `the runtime table "${name}" is modelled by the application.`, remedy });

/** Runtime tables and schemas that the schema files export, and those that generated CRUD serves. */
export function runtimeTablesIn(
  { api, schema }: Pick<LoadedApp, "api" | "schema">,
  { root, schemaFiles, index }: { root: string; schemaFiles: readonly string[]; index: string },
): Finding[] {
  const texts = schemaFiles
    .filter((path) => existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, "utf8") }));
  const at = (exported: string) => {
    for (const { path, text } of texts) {
      const [made] = text.matchAll(new RegExp(`\\b${exported}\\s*=\\s*`, "g"));
      if (made) return { file: relative(root, path), ...placeOf(text, made.index + made[0].length) };
    }
    return { file: relative(root, index), line: 1, column: 1 };
  };
  const exported = Object.entries(schema).flatMap(([key, value]): Finding[] => {
    if (is(value, PgSchema) && isRuntimeSchema(value.schemaName)) {
      const what = `the platform's schema "${value.schemaName}" is modelled by the application.`;
      return [{ ...at(key), what, remedy }];
    }
    if (!is(value, PgTable) || isOffered(value)) return [];
    const { name, schema: folder } = tableConfig(value);
    return isRuntimeName(name) || isRuntimeSchema(folder) ? [{ ...at(key), ...modelled(name) }] : [];
  });
  const served = api["~svc"].crud.flatMap(({ table, schema: folder, source }) => {
    if (isOffered(source.table)) return [];
    const isKnown = exported.some(({ what }) => what.includes(`"${table}"`));
    return !isKnown && (isRuntimeName(table) || isRuntimeSchema(folder)) ? [{ ...at(table), ...modelled(table) }] : [];
  });
  return [...exported, ...served];
}

const word = `(?:"(?:[^"]|"")+"|[\\w$]+)`;
const create = new RegExp(
  `\\b(?:create\\s+(?:(?:global\\s+|local\\s+)?temp(?:orary)?\\s+|unlogged\\s+|foreign\\s+)?table|alter\\s+table)\\s+(?:if\\s+(?:not\\s+)?exists\\s+)?(?:only\\s+)?(${word})(?:\\s*\\.\\s*(${word}))?`,
  "gi",
);

/** `create table` and `alter table` in the application's migrations. */
export async function runtimeTablesInMigrations(root: string): Promise<Finding[]> {
  const folder = join(root, "migrations");
  const all = await readdir(folder, { recursive: true }).catch(() => [] as string[]);
  const names = all.filter((name) => name.endsWith(".sql")); // `svc migrate` applies those of folders, too
  const read = async (path: string) => inMigration(relative(root, path), await readFile(path, "utf8"));
  return (await Promise.all(names.toSorted().map((name) => read(join(folder, name))))).flat();
}

function inMigration(file: string, text: string): Finding[] {
  // Comments become blanks, so positions stay the same.
  const sql = text.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, " "));
  return [...sql.matchAll(create)].flatMap((match) => {
    const [first = "", second] = [match[1] ?? "", match[2]].map((part) => part?.replaceAll('"', ""));
    const runtime = second === undefined ? isRuntimeName(first) : isRuntimeName(second) || isRuntimeSchema(first);
    const name = second === undefined ? first : `${first}.${second}`;
    return runtime ? [{ file, ...placeOf(sql, match.index), ...modelled(name) }] : [];
  });
}
