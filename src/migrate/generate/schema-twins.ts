/**
 * Refuses two objects of the schema that have the same name: drizzle-kit silently keeps one of them. The same object exported twice
 * is allowed. Called by `takeSnapshot` (schema-snapshot.ts). Two tables are refused when the schema is loaded (schema-files.ts).
 */
import { is } from "drizzle-orm";
import { type ForeignKey, isPgEnum, isPgSequence, PgTable } from "drizzle-orm/pg-core";
import { nameOfTable } from "../../crud/followed-tables.ts";
import { DefinitionError } from "../../kit/definition-error.ts";
import { tableConfig } from "../../kit/table-config.ts";
import { short } from "../../postgres/schema-names.ts";

const rename = { hint: "Give one of them another name." };

/** @param declared the values that the schema files export @throws DefinitionError */
export function refuseTwins(declared: readonly unknown[]): void {
  const tables = [...new Set(declared.filter((value) => is(value, PgTable)))];
  for (const one of tables) refuseTwinsIn(one);

  const named = (name: string, schema = "public") => short(`${schema}.${name}`);
  const enums = declared.filter(isPgEnum).map((one) => [named(one.enumName, one.schema), one.enumValues] as const);
  const sequences = declared
    .filter(isPgSequence)
    .map((one) => [named(one.seqName ?? "", one.schema), one.seqOptions] as const);
  for (const [what, list] of [["enums", enums] as const, ["sequences", sequences] as const]) {
    const twin = differing(list);
    if (twin !== undefined)
      throw new DefinitionError(`Two different ${what} of the schema are named "${twin}".`, rename);
  }
}

function refuseTwinsIn(table: PgTable): void {
  const key = short(nameOfTable(table));
  const { columns, policies, foreignKeys } = tableConfig(table);
  const column = twinOf(columns);
  if (column !== undefined) throw new DefinitionError(`The table "${key}" has two columns named "${column}".`, rename);
  if (columns.some(({ name }) => name === "__proto__")) {
    throw new DefinitionError(`The table "${key}" has a column named "__proto__".`, {
      hint: "Rename it: JavaScript cannot keep a value under this name.",
    });
  }
  const foreignKey = differing(foreignKeys.map((one) => [one.getName(), definitionOf(one)]));
  if (foreignKey !== undefined)
    throw new DefinitionError(`The table "${key}" has two different foreign keys named "${foreignKey}".`, rename);
  const policy = twinOf(policies);
  if (policy === undefined) return;
  throw new DefinitionError(`The table "${key}" has two policies named "${policy}".`, {
    hint: "Give yours another name: those of ownerRls and the other helpers are taken.",
  });
}

function definitionOf({ reference, onUpdate, onDelete }: ForeignKey) {
  const { columns, foreignTable, foreignColumns } = reference();
  const names = [columns, foreignColumns].map((list) => list.map(({ name }) => name));
  return [names, nameOfTable(foreignTable), onUpdate, onDelete];
}

/** The first name that stands in the list twice. */
function twinOf(list: readonly { name: string }[]): string | undefined {
  const names = list.map(({ name }) => name);
  return names.find((name, index) => names.indexOf(name) !== index);
}

/** The first name that stands in the list with two definitions. */
function differing(list: readonly (readonly [name: string, definition: unknown])[]): string | undefined {
  const named = Map.groupBy(list, ([name]) => name);
  return [...named.keys()].find(
    (name) => new Set(named.get(name)?.map(([, definition]) => JSON.stringify(definition))).size > 1,
  );
}
