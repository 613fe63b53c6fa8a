/**
 * Writes `generated/auth-schema.ts` of an application: Drizzle tables of schema auth. With them trusted code can change
 * additional fields, and tables can reference users. Written before the application is loaded, because the application
 * may import it.
 * Next hop: `auth-tables.ts`.
 */
import { join, relative } from "node:path";
import { loadAuth } from "../app/load-app.ts";
import { writeChanged } from "../codegen/write-changed.ts";
import type { EffectiveConfig } from "../config/config.ts";
import type { AuthDefinition } from "../contract/auth.ts";
import { keyOf } from "../kit/written-names.ts";
import { type AuthColumn, type AuthTable, authTables } from "./auth-tables.ts";

/**
 * Writes the file, unless the application maintains its own auth schema (`codegen.authSchema: false`).
 *
 * @returns the path, relative to the application, if the file changed
 */
export async function writeAuthSchema(config: EffectiveConfig): Promise<string[]> {
  if (!config.codegen.authSchema) return [];
  const file = join(config.rootDir, "generated", "auth-schema.ts");
  const text = authSchema(await loadAuth(config));
  return (await writeChanged(file, text)) ? [relative(config.cwd, file)] : [];
}

/** The text of the file. The same definition gives the same bytes. */
export function authSchema(definition: AuthDefinition): string {
  const tables = authTables(definition);
  const body = tables.map((table, index) => tableText(table, tables, index)).join("\n\n");
  const builders = ["bigint", "boolean", "integer", "jsonb", "text", "timestamp"];
  const values = [...builders.filter((name) => body.includes(`: ${name}("`)), "pgSchema"].sort();
  const imports = [...(body.includes("AnyPgColumn") ? ["type AnyPgColumn"] : []), ...values];
  return [
    "// Written by `svc codegen` from auth.ts and its better-auth plugins. Do not edit: changes will be lost.",
    `import { ${imports.join(", ")} } from "drizzle-orm/pg-core";`,
    "",
    'const auth = pgSchema("auth");',
    "",
    `${body}\n`,
  ].join("\n");
}

function tableText({ key, name, columns }: AuthTable, tables: readonly AuthTable[], position: number): string {
  const lines = columns.map((column) => `  ${keyOf(column.property)}: ${columnText(column, tables, position)},`);
  return [
    `export const ${key} = auth.table(${JSON.stringify(name)}, {`,
    '  id: text("id").primaryKey(),',
    ...lines,
    "});",
  ].join("\n");
}

function columnText(column: AuthColumn, tables: readonly AuthTable[], position: number): string {
  const { name, type, values, notNull, references } = column;
  const options = {
    text: values ? `, { enum: ${JSON.stringify(values)} }` : "",
    timestamp: ", { withTimezone: true }",
    bigint: ', { mode: "number" }',
  };
  const calls = [
    `${type}(${JSON.stringify(name)}${options[type as keyof typeof options] ?? ""})`,
    ...(notNull ? [".notNull()"] : []),
    ...defaultText(column),
    ...(references ? referenceText(references, tables, position) : []),
  ];
  // Breaks a long chain as formatters do.
  return calls.join(references && calls.length > 2 ? "\n    " : "");
}

function defaultText({ type, default: value }: AuthColumn): string[] {
  if (value === undefined) return [];
  if (type === "timestamp" && value === "now") return [".defaultNow()"];
  const text = JSON.stringify(value);
  return [value instanceof Date ? `.default(new Date(${text}))` : `.default(${text})`];
}

type Reference = NonNullable<AuthColumn["references"]>;

/** A table that is declared later, or this one, has no type yet, so the reference needs an explicit type. */
function referenceText(
  { table, column, onDelete }: Reference,
  tables: readonly AuthTable[],
  position: number,
): string[] {
  const target = tables.findIndex(({ key, name }) => key === table || name === table);
  const { key } = tables[target] ?? {};
  if (key === undefined) return [];
  const type = target < position ? "" : ": AnyPgColumn";
  return [`.references(()${type} => ${key}.${column}, { onDelete: ${JSON.stringify(onDelete)} })`];
}
