/**
 * `searchable()`: what a table's author declares so that `ctx.search` finds its rows. Gives the policies of the scope, and
 * is remembered for `svc codegen`, which writes the declarations into the application's `sql/search.sql`.
 * Next hop: `src/search/search-sql.ts`, `sql/search/install_search.sql`.
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
import type { ColumnDescription } from "../contract/crud.ts";
import type { RagScope } from "../contract/search.ts";
import { describeColumns } from "../crud/columns.ts";
import { isCaller, readsOwn } from "../crud/rls.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { platformSql } from "../postgres/anonymous-gate.ts";

export interface SearchableOptions {
  /** Columns with text that keyword search looks into, 1 to 16. */
  fields: AnyPgColumn[];
  /** PostgreSQL text search configuration that stems their words. (Default: `english`) */
  language?: string;
  /** Text column with the name of the row's collection. (Default: all rows are of the corpus `default`) */
  corpus?: AnyPgColumn;
  /**
   * Who finds a row: `private` (its owner), `shared` (any signed-in user) or `public` (anyone). A text column that says
   * so, or one of the three for all rows. (Default: `private`)
   */
  visibility?: AnyPgColumn | Visibility;
  /** Column with the owner's id, as in `ownerRls`; only a table whose rows are all shared or public does without. */
  owner?: AnyPgColumn;
}

type Visibility = RagScope["visibility"];

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
  /** Names of columns; null where there is none. */
  corpus: string | null;
  visibility: string | null;
  owner: string | null;
  /** The visibility of all rows, where no column says it; null otherwise. */
  always: Visibility | null;
  /** Dimensions of the vector columns, by name; null where the column takes any. */
  vectors: Map<string, number | null>;
}

const optionNames = ["fields", "language", "corpus", "visibility", "owner"];

type Declaration = Pick<SearchTable, "fields" | "language" | "corpus" | "visibility" | "owner" | "always">;

/** By the first policy of each. */
const declarations = new WeakMap<PgPolicy, Declaration>();

/** The corpus of a table that has no column for it. */
export const onlyCorpus = "default";

/**
 * Makes a table's rows findable by `ctx.search`, `ctx.vectorSearch` and `ctx.hybridSearch`, each by those who may.
 *
 * Its policies let people read: their own private rows, shared ones when they are signed in, public ones always. Who
 * writes is declared beside it, by `ownerRls` as a rule.
 *
 * @throws DefinitionError for no field, too many, or one that holds no text; for private rows without an owner
 * @example
 * (t) => [...ownerRls(t.userId), ...searchable({ fields: [t.title, t.body], corpus: t.corpus,
 *   visibility: t.visibility, owner: t.userId })]
 */
export function searchable(options: SearchableOptions): PgPolicy[] {
  const { fields, language = "english", corpus, visibility = "private", owner } = options;
  if (!Array.isArray(fields) || fields.length === 0 || fields.length > 16) {
    throw new DefinitionError("searchable: fields takes 1 to 16 columns.", {
      hint: "Write fields: [t.title, t.body].",
    });
  }
  if (fields.includes(undefined as never)) {
    throw new DefinitionError("searchable: one of fields is undefined.", { hint: "Give columns of the table." });
  }
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown !== undefined) {
    throw new DefinitionError(`searchable has no "${unknown}".`, { hint: `Known: ${optionNames.join(", ")}.` });
  }
  for (const name of ["corpus", "visibility", "owner"] as const) {
    // A misspelt column is undefined: the table must not silently be searched as if it had none.
    if (!(name in options) || options[name]) continue;
    throw new DefinitionError(`searchable: ${name} is ${options[name]}.`, {
      hint: `Give a column of the table, or leave ${name} out.`,
    });
  }
  const always = typeof visibility === "string" ? visibility : null;
  const column = typeof visibility === "string" ? undefined : visibility;
  if (always !== null && !["private", "shared", "public"].includes(always)) {
    throw new DefinitionError(`searchable: visibility is ${JSON.stringify(always)}.`, {
      hint: "Give private, shared or public for all rows, or a column that says it for each. What a team shares: docs/how-to/teams.md.",
    });
  }
  if (!owner && always !== "shared" && always !== "public") {
    throw new DefinitionError("searchable: owner is missing, and private rows are found by their owners.", {
      hint: 'Write owner: t.userId; or visibility: "shared" or "public" when that holds for every row.',
    });
  }
  for (const each of [...fields, corpus, column]) {
    if (!each || ["PgText", "PgVarchar", "PgChar"].includes(each.columnType)) continue;
    throw new DefinitionError(`searchable: column "${each.name}" is not a text column.`, { hint: "Make it text()." });
  }
  if (!/^[a-z_][a-z0-9_.]*$/.test(language)) {
    throw new DefinitionError(`searchable: ${JSON.stringify(language)} is not a text search configuration.`, {
      hint: "Take one of PostgreSQL's, such as english, german or simple: select cfgname from pg_ts_config.",
    });
  }
  const policies = policiesOf(column, always, owner);
  const names = { corpus: corpus?.name ?? null, visibility: column?.name ?? null, owner: owner?.name ?? null };
  declarations.set(policies[0] as PgPolicy, { fields: fields.map(({ name }) => name), language, ...names, always });
  return policies;
}

/** One for each visibility that rows may have. */
function policiesOf(column: AnyPgColumn | undefined, always: Visibility | null, owner?: AnyPgColumn): PgPolicy[] {
  const authenticated = pgRole("svc_authenticated").existing();
  const to = {
    public: [pgRole("svc_anonymous").existing(), authenticated],
    shared: authenticated,
    private: authenticated,
  };
  const visibilities: Visibility[] = always ? [always] : ["public", "shared", "private"];
  return visibilities.map((which) => {
    const parts = column ? [sql`${column} = ${platformSql(`'${which}'`)}`] : [];
    if (which === "private" && owner) parts.push(isCaller(owner, "searchable"));
    const using = parts.length > 0 ? sql.join(parts, sql` and `) : sql`true`;
    const policy = pgPolicy(`select_${which}`, { for: "select", to: to[which], using });
    if (which === "private" && owner) readsOwn(policy, owner);
    return policy;
  });
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

function describe(table: PgTable, declared: Declaration): SearchTable {
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
    ...declared,
    vectors: new Map(
      all
        .filter((column) => is(column, PgVector))
        .map((column) => [column.name, (column as PgVector<never>).dimensions ?? null]),
    ),
  };
}
