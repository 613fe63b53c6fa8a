/**
 * `searchable()`: what a table's author declares so that `ctx.search` finds its rows. Gives the policies of the scope, and
 * is remembered for `svc codegen`, which writes the declarations into the application's `sql/search.sql`.
 * Next hop: `src/codegen/search-sql.ts`, `sql/search/install_search.sql`.
 */
import { getTableName, is, sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  getTableConfig,
  type PgColumn,
  type PgPolicy,
  PgTable,
  PgVector,
  pgPolicy,
  pgRole,
} from "drizzle-orm/pg-core";
import { type ColumnDescription, describeColumns } from "./columns.ts";
import { DefinitionError } from "./definition-error.ts";

export interface SearchableOptions {
  /** Columns with text that keyword search looks into, 1 to 16. */
  fields: AnyPgColumn[];
  /** PostgreSQL text search configuration that stems their words. (Default: `english`) */
  language?: string;
  /** Text column with the name of the row's collection. */
  corpus: AnyPgColumn;
  /** Text column: `private` (its owner finds the row), `shared` (any signed-in user) or `public` (anyone). */
  visibility: AnyPgColumn;
  /** Column with the owner's id, as in `ownerRls`. */
  owner: AnyPgColumn;
}

/** A table with a declaration, as searches need it. */
export interface SearchTable {
  table: PgTable;
  /** Schema and name, quoted: the name under which the index knows it. */
  name: string;
  columns: ColumnDescription[];
  id: ColumnDescription;
  /** Names of columns in the database. */
  fields: string[];
  language: string;
  corpus: string;
  visibility: string;
  owner: string;
  /** Dimensions of the vector columns, by name; null where the column takes any. */
  vectors: Map<string, number | null>;
}

const declarations = new WeakMap<PgPolicy, SearchableOptions>();

/**
 * Makes a table's rows findable by `ctx.search`, `ctx.vectorSearch` and `ctx.hybridSearch`, each by those who may.
 *
 * Stands beside `ownerRls`, which lets owners read and write their rows; this adds that others read shared and public ones.
 *
 * @throws DefinitionError for no field, too many, or one that holds no text
 * @example
 * (t) => [...ownerRls(t.userId), ...searchable({ fields: [t.title, t.body], corpus: t.corpus,
 *   visibility: t.visibility, owner: t.userId })]
 */
export function searchable(options: SearchableOptions): PgPolicy[] {
  const { fields, language = "english", corpus, visibility, owner } = options;
  if (!Array.isArray(fields) || fields.length === 0 || fields.length > 16) {
    throw new DefinitionError("searchable: fields takes 1 to 16 columns.", {
      hint: "Write fields: [t.title, t.body].",
    });
  }
  for (const [name, column] of Object.entries({ corpus, visibility, owner })) {
    if (column === undefined) {
      throw new DefinitionError(`searchable: ${name} is missing.`, {
        hint: "Every search names a corpus and a visibility, so the table needs columns for them and for the owner.",
      });
    }
  }
  for (const column of [...fields, corpus, visibility]) {
    if (["PgText", "PgVarchar", "PgChar"].includes(column.columnType)) continue;
    throw new DefinitionError(`searchable: column "${column.name}" holds no text.`, { hint: "Make it text()." });
  }
  if (!/^[a-z_][a-z0-9_.]*$/.test(language)) {
    throw new DefinitionError(`searchable: ${JSON.stringify(language)} is no text search configuration.`, {
      hint: "Take one of PostgreSQL's, such as english, german or simple: select cfgname from pg_ts_config.",
    });
  }
  const authenticated = pgRole("svc_authenticated").existing();
  const isPublic = pgPolicy("select_public", {
    for: "select",
    to: [pgRole("svc_anonymous").existing(), authenticated],
    using: sql`${visibility} = 'public'`,
  });
  declarations.set(isPublic, { ...options, language });
  return [
    isPublic,
    pgPolicy("select_shared", { for: "select", to: authenticated, using: sql`${visibility} = 'shared'` }),
  ];
}

/** The searchable tables among the exports of an application's schema, by the names of the exports. */
export function searchTables(schema: Readonly<Record<string, unknown>>): Map<string, SearchTable> {
  const found = new Map<string, SearchTable>();
  for (const [name, value] of Object.entries(schema)) {
    if (!is(value, PgTable)) continue;
    const { policies } = getTableConfig(value);
    const declared = policies.map((policy) => declarations.get(policy)).find((one) => one !== undefined);
    if (declared) found.set(name, describe(value, declared));
  }
  return found;
}

function describe(table: PgTable, declared: SearchableOptions): SearchTable {
  const { schema = "public", primaryKeys } = getTableConfig(table);
  const columns = describeColumns(table);
  const all = getTableConfig(table).columns as PgColumn[];
  const keys = [...all.filter(({ primary }) => primary), ...primaryKeys.flatMap((key) => key.columns)];
  const id = columns.find(({ name }) => name === keys[0]?.name);
  if (!id || keys.length !== 1) {
    throw new DefinitionError(`searchable: ${getTableName(table)} needs a primary key of one column.`, {
      hint: 'Add one, for example uuid("id").primaryKey().defaultRandom().',
    });
  }
  return {
    table,
    name: [schema, getTableName(table)].map((part) => `"${part.replaceAll('"', '""')}"`).join("."),
    columns,
    id,
    fields: declared.fields.map(({ name }) => name),
    language: declared.language ?? "english",
    corpus: declared.corpus.name,
    visibility: declared.visibility.name,
    owner: declared.owner.name,
    vectors: new Map(
      all
        .filter((column) => is(column, PgVector))
        .map((column) => [column.name, (column as PgVector<never>).dimensions ?? null]),
    ),
  };
}
