/**
 * Relations that no `relations()` declares, from the foreign keys of the tables: `author` by `authorId`, the rows of
 * another table by its name, and rows behind a join table.
 * Next hop: `relations.ts` gives each its resource.
 */
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { type ForeignKey, PgTable } from "drizzle-orm/pg-core";
import type { IncludeOption, RelationSource } from "../contract/crud.ts";
import { tableConfig } from "../kit/table-config.ts";

/** Two tables and the columns that are equal, by their names in the database. */
export interface Link {
  table: PgTable;
  many: boolean;
  local: string[];
  foreign: string[];
  through: { table: PgTable; local: string[]; foreign: string[] } | null;
}

type Fail = (problem: string, hint: string) => never;

const declareIt =
  "Name a relation that relations() of the schema declares; pass the schema with createCrudFactory(procedure, schema). " +
  "For rows behind a join table, write { name, through: schema.joinTable }.";

interface Key {
  from: PgTable;
  to: PgTable;
  columns: string[];
  references: string[];
}

function keysOf(table: PgTable): Key[] {
  return tableConfig(table).foreignKeys.map((key: ForeignKey) => {
    const { columns, foreignTable, foreignColumns } = key.reference();
    return {
      from: table,
      to: foreignTable as PgTable,
      columns: columns.map(({ name }) => name),
      references: foreignColumns.map(({ name }) => name),
    };
  });
}

/** @throws DefinitionError when no foreign key fits the name, or several do */
export function byForeignKeys({ table, schema = {} }: RelationSource, name: string, fail: Fail): Link {
  const own = keysOf(table);
  const named = keyOf(own, getTableColumns(table)[`${name}Id`]?.name);
  if (named) return toOne(named);

  const tables = tablesOf(schema);
  const target = tables.find((one) => schema[name] === one || getTableName(one) === name);
  if (!target) return fail("which is neither a relation nor a table with a foreign key.", declareIt);
  const direct = [
    ...own.filter(({ to }) => to === target).map(toOne),
    ...keysOf(target)
      .filter(({ to }) => to === table)
      .map(toMany),
  ];
  const links = direct.length > 0 ? direct : tables.flatMap((join) => joins(join, table, target));
  const [link] = links;
  if (!link) return fail(`but no foreign key leads there from "${getTableName(table)}".`, declareIt);
  return links.length > 1 ? fail("but several foreign keys lead there.", declareIt) : link;
}

/**
 * The key of a column: its own, else the only one of several columns that has it. Rows of an organization refer to others
 * by two columns, of which the first is the organization, so that both rows are of the same.
 */
function keyOf(keys: Key[], column: string | undefined): Key | undefined {
  if (column === undefined) return undefined;
  const having = keys.filter(({ columns }) => columns.includes(column));
  return having.find(({ columns }) => columns.length === 1) ?? (having.length === 1 ? having[0] : undefined);
}

const tablesOf = (schema: Record<string, unknown>): PgTable[] => [
  ...new Set(Object.values(schema).filter((value): value is PgTable => is(value, PgTable))),
];

/** The names by which the foreign keys of a table, and those that lead to it, are known. */
export function namesByForeignKeys({ table, schema = {} }: RelationSource): string[] {
  const own = keysOf(table);
  const toOthers = Object.entries(getTableColumns(table)).flatMap(([property, { name }]) =>
    property.endsWith("Id") && keyOf(own, name) ? [property.slice(0, -"Id".length)] : [],
  );
  const fromOthers = Object.entries(schema).flatMap(([name, value]) =>
    is(value, PgTable) && value !== table && keysOf(value).filter(({ to }) => to === table).length === 1 ? [name] : [],
  );
  return [...toOthers, ...fromOthers];
}

const toOne = ({ to, columns, references }: Key): Link => ({
  table: to,
  many: false,
  local: columns,
  foreign: references,
  through: null,
});

const toMany = ({ from, columns, references }: Key): Link => ({
  table: from,
  many: true,
  local: references,
  foreign: columns,
  through: null,
});

/** Join tables are those with one foreign key to either side. */
function joins(join: PgTable, table: PgTable, target: PgTable): Link[] {
  if (join === table || join === target || table === target) return [];
  const keys = keysOf(join);
  const near = keys.filter(({ to }) => to === table);
  const far = keys.filter(({ to }) => to === target);
  return near.flatMap((one) => far.map((other) => across(one, other)));
}

const across = (near: Key, far: Key): Link => ({
  table: far.to,
  many: true,
  local: near.references,
  foreign: far.references,
  through: { table: near.from, local: near.columns, foreign: far.columns },
});

/**
 * A join table may have more foreign keys, such as one to the team of its rows: the name of the relation then says which
 * table is meant.
 *
 * @throws DefinitionError unless one foreign key is known to lead to this table, and one to the related table
 */
export function throughTable(
  { table, schema = {} }: RelationSource,
  option: Exclude<IncludeOption, string>,
  fail: Fail,
): Link {
  const { name, through, on } = option;
  const keys = keysOf(through);
  const column = on === undefined ? undefined : getTableColumns(through)[on]?.name;
  const near = keys.filter(
    ({ to, columns }) => to === table && (on === undefined || (column !== undefined && columns.includes(column))),
  );
  const [first] = near;
  if (!first || near.length > 1) {
    return fail(
      `but ${near.length === 0 ? "no foreign key" : "more than one"} of "${getTableName(through)}" leads to "${getTableName(table)}".`,
      'Name a column of the one that does: { name, through, on: "followedId" }.',
    );
  }
  const others = keys.filter((key) => key !== first);
  const far = others.length > 1 ? others.filter(({ to }) => schema[name] === to || getTableName(to) === name) : others;
  const [second] = far;
  if (others.length === 0) {
    return fail(
      `but "${getTableName(through)}" has no other foreign key.`,
      "A join table has two: one to either table. Include its own rows instead.",
    );
  }
  if (!second || far.length > 1) {
    const names = [...new Set(others.map(({ to }) => `"${getTableName(to)}"`))].join(" or ");
    return fail(
      `but "${getTableName(through)}" has several other foreign keys.`,
      `Name the relation as the table to which the right one leads: ${names}.`,
    );
  }
  return across(first, second);
}
