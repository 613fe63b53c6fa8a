/**
 * Finds what the option `include` of `createCrud` names: a relation that the schema declares with `relations()`, or
 * foreign keys where these are unambiguous. Runs in `defineApi`, which knows all resources: a row that is included has
 * the columns and filters of its own table's resource.
 * Next hop: `foreign-keys.ts`; `crud-resource.ts` writes relations into the generated SQL.
 */
import { type Column, getTableName, is, Many, normalizeRelation } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { CrudDefinition, CrudRelation, IncludeOption, JoinTable, RelationSource } from "../contract/crud.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { didYouMean } from "../kit/nearest.ts";
import { relationalConfig, tableConfig } from "../kit/table-config.ts";
import { findColumn } from "./crud-definition.ts";
import { byForeignKeys, type Link, namesByForeignKeys, throughTable } from "./foreign-keys.ts";

/** @throws DefinitionError for a name that leads nowhere, to several tables, or to a table without a resource */
export function linkRelations(resources: readonly CrudDefinition[]): void {
  for (const crud of resources) {
    crud.relations.clear();
    for (const option of crud.source.include) {
      const name = typeof option === "string" ? option : option.name;
      crud.relations.set(name, relation(crud, name, option, resources));
    }
  }
}

/** The name of a table's first export. */
const keyOf = (schema: Record<string, unknown>, table: PgTable): string | undefined =>
  Object.keys(schema).find((key) => schema[key] === table);

function relation(
  crud: CrudDefinition,
  name: string,
  option: IncludeOption,
  resources: readonly CrudDefinition[],
): CrudRelation {
  const where = `createCrud of "${crud.table}": include names "${name}", `;
  const fail = (problem: string, hint: string): never => {
    throw new DefinitionError(where + problem, { hint });
  };
  if (!/^[A-Za-z_]\w{0,62}$/.test(name)) fail("which cannot be a name.", "Use letters, digits and _.");
  if (name === "_count") fail("which is the member for numbers of related rows.", "Give the relation another name.");
  if (name === "OR" || name === "AND" || findColumn(crud, name)) {
    fail("which is the name of a column or a group of filters.", "Give the relation another name in relations().");
  }
  const { source } = crud;
  const link =
    typeof option === "string"
      ? (declared(source, name, fail) ?? byForeignKeys(source, name, failNaming(source, name, fail)))
      : throughTable(source, option, fail);
  const target = resources.find((one) => one.source.table === link.table && reads(one, link.many));
  return {
    target: target ?? fail(`but ${withoutResource(link)}`, resourceHint(link)),
    many: link.many,
    local: link.local,
    foreign: link.foreign,
    through: link.through && joinTable(link.through, resources, fail),
  };
}

/** Suggests the relations of the table that the schema declares, or has by foreign keys. */
function failNaming(source: RelationSource, name: string, fail: (problem: string, hint: string) => never) {
  return (problem: string, hint: string): never => {
    const { table, schema } = source;
    const key = schema && keyOf(schema, table);
    const declared = key === undefined ? {} : relationalConfig(schema ?? {}).tables[key]?.relations;
    const names = [...new Set([...Object.keys(declared ?? {}), ...namesByForeignKeys(source)])];
    return fail(problem, names.length > 0 ? `${didYouMean(name, names)} ${hint}` : hint);
  };
}

/** The operations that a relation stands for: a caller who may not list rows may not include them either. */
const reads = ({ methods }: CrudDefinition, many: boolean) => methods.includes(many ? "list" : "get");

const withoutResource = ({ table, many }: Link) =>
  `no registered resource of "${getTableName(table)}" has ${many ? "list" : "get"}.`;

const resourceHint = ({ table, many }: Link) =>
  tableConfig(table).schema === "auth"
    ? noAccessToAuth
    : `Register createCrud of "${getTableName(table)}" in defineApi, at least with methods: ["${many ? "list" : "get"}"]: its ` +
      "columns and allowedFilters are what callers see of the related rows.";

/** They hold e-mail addresses and hashes of passwords. */
export const noAccessToAuth =
  "Requests cannot read tables of the schema auth. To show people, let the column refer to a table of profiles: @svc/core/docs/how-to/user-profiles.md";

function joinTable(
  { table, local, foreign }: NonNullable<Link["through"]>,
  resources: readonly CrudDefinition[],
  fail: (problem: string, hint: string) => never,
): JoinTable {
  const { schema = "public", name, policies } = tableConfig(table);
  if (policies.length === 0) {
    fail(
      `but the join table "${name}" declares no policy, so nobody could read it.`,
      "Declare one, such as openRls(…).",
    );
  }
  const softDelete = resources.find((one) => one.source.table === table && one.softDelete)?.softDelete;
  return { schema, table: name, local, foreign, softDelete };
}

/** A relation of the schema's `relations()`. */
function declared(
  { table, schema }: RelationSource,
  name: string,
  fail: (problem: string, hint: string) => never,
): Link | undefined {
  const key = schema && keyOf(schema, table);
  if (!schema || key === undefined) return undefined;
  const { tables, tableNamesMap } = relationalConfig(schema);
  const found = tables[key]?.relations[name];
  if (!found) return undefined;
  let columns: ReturnType<typeof normalizeRelation>;
  try {
    columns = normalizeRelation(tables, tableNamesMap, found);
  } catch (error) {
    const [here, there] = [getTableName(table), getTableName(found.referencedTable)];
    if (!is(found, Many)) return fail(`but: ${(error as Error).message}.`, `Complete relations() of "${here}".`);
    return fail(
      `which relations() declares as many rows of "${there}", but not how they refer to "${here}".`,
      `Add to the schema: relations(${there}, ({ one }) => ({ ${here}: one(${here}, { fields: [the columns of ${there}], ` +
        `references: [those of ${here}] }) })).`,
    );
  }
  const { fields, references } = columns;
  for (const [index, field] of fields.entries()) refuseUnlike(field, references[index], fail);
  return {
    table: found.referencedTable as PgTable,
    many: is(found, Many),
    local: fields.map((column) => column.name),
    foreign: references.map((column) => column.name),
    through: null,
  };
}

/** Types between which PostgreSQL has no operator; others may have one. */
const kindsOfTypes: readonly RegExp[] = [
  /^(small|big)?(int|serial)|^(integer|numeric|real|double)/,
  /^(text|varchar|char|character)\b/,
  /^uuid$/,
];

/** @throws DefinitionError for columns that PostgreSQL cannot compare: each call of the relation would fail */
function refuseUnlike(one: Column, other: Column | undefined, fail: (problem: string, hint: string) => never): void {
  if (!other) return;
  const types = [one.getSQLType(), other.getSQLType()];
  const [kind, otherKind] = types.map((type) => kindsOfTypes.findIndex((is) => is.test(type)));
  if (kind === otherKind || kind === -1 || otherKind === -1) return;
  fail(
    `which compares "${one.name}" (${types[0]}) with "${other.name}" (${types[1]}).`,
    "PostgreSQL cannot compare these types: give both columns one type.",
  );
}
