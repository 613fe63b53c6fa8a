/**
 * `searchable()`: declares a table for `ctx.search`. Returns the policies of the scope, and records the declaration for
 * `svc codegen`, which writes it into the application's `sql/search.sql`.
 * Next hop: `src/search/search-sql.ts`, `sql/search/install_search.sql`.
 */
import { getTableColumns, getTableName, is, sql } from "drizzle-orm";
import { type AnyPgColumn, PgColumn, PgPolicy, PgTable, PgVector, pgPolicy, pgRole } from "drizzle-orm/pg-core";
import { z } from "zod";
import type { ColumnDescription } from "../contract/crud.ts";
import type { RagScope } from "../contract/search.ts";
import { describeColumns } from "../crud/columns.ts";
import { isCaller, readsOwn } from "../crud/rls.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { checkOptions, integer, must, number, type ShapeOf } from "../kit/options.ts";
import { primaryKey, quotedName, tableConfig } from "../kit/table-config.ts";
import { platformSql } from "../postgres/anonymous-gate.ts";

export interface SearchableOptions {
  /**
   * Text columns for keyword search, 1 to 16. `{ column: t.title, weight: 3 }`: a word of the title counts as three of other
   * fields; weights are 1 to 10. (Default: 1)
   */
  fields: (AnyPgColumn | WeightedField)[];
  /** PostgreSQL text search configuration that stems their words. (Default: `english`) */
  language?: string;
  /** Text column with the name of the row's collection. (Default: all rows are in the corpus `default`) */
  corpus?: AnyPgColumn;
  /**
   * Who finds a row: `private` (its owner), `shared` (any signed-in user) or `public` (anyone). A text column, or one
   * value for all rows. (Default: `private`)
   */
  visibility?: AnyPgColumn | Visibility;
  /**
   * Column with the owner's id, as in `ownerRls`; required where rows may be private: unless `visibility` is `shared` or
   * `public` for all rows, or an enum without `private`.
   */
  owner?: AnyPgColumn;
  /**
   * Policies that say who finds the rows: `memberRls(…)`, or `ownerRls(…)` with readers. `searchable` returns them in place
   * of its own; `visibility` must be `shared`. (Default: any signed-in user finds shared rows)
   */
  readers?: PgPolicy[];
  /**
   * Constants of the ranking formula BM25: `k1`, how much further occurrences of a word in a row count, and `b`, how
   * much a row's length does. (Default: 1.2 and 0.75)
   */
  bm25?: { k1?: number; b?: number };
}

/** A field of which a word counts as `weight` words of other fields. */
interface WeightedField {
  column: AnyPgColumn;
  weight: number;
}

type Visibility = RagScope["visibility"];

/** A declared table, as searches need it. */
export interface SearchTable {
  table: PgTable;
  /** Schema and name, quoted: the table's name in the index. */
  name: string;
  columns: ColumnDescription[];
  id: ColumnDescription;
  /** Database names of the columns. */
  fields: string[];
  language: string;
  /** Names of columns; null without a column. */
  corpus: string | null;
  visibility: string | null;
  owner: string | null;
  /** The fixed visibility of all rows; null if a column has it. */
  always: Visibility | null;
  /** Those that rows may have. */
  visibilities: Visibility[];
  /** Constants of BM25 that differ from the default, and the weights of the fields if they differ. */
  bm25: { k1?: number | undefined; b?: number | undefined; weights?: number[] | undefined } | null;
  /** Dimensions of the vector columns, by name; null for a column that takes any. */
  vectors: Map<string, number | null>;
}

const anyColumn = z.custom<AnyPgColumn>((value) => is(value, PgColumn), "must be a column of the table");
const textColumn = anyColumn.refine(
  (column) => !is(column, PgColumn) || ["PgText", "PgVarchar", "PgChar"].includes(column.columnType),
  "must be a text column: make it text()",
);
const someFields = must("1 to 16 columns, such as [t.title, t.body]");
const weightedField = z.strictObject({ column: textColumn, weight: integer(1, 10) } satisfies ShapeOf<WeightedField>);
const hasWeight = (given: unknown): given is WeightedField =>
  typeof given === "object" && given !== null && !is(given, PgColumn);
const field = z
  .custom<AnyPgColumn | WeightedField>()
  .transform((given) => (hasWeight(given) ? given : { column: given, weight: 1 }))
  .pipe(weightedField);
const languageRule = must(
  "a text search configuration, such as english, german or simple: select cfgname from pg_ts_config",
);

const policiesRule = must(
  "policies, such as memberRls({ through, team, user }) or ownerRls(t.userId, { read: [t.recipientId] })",
);
const somePolicy = z.custom<PgPolicy>((value) => is(value, PgPolicy), policiesRule);

const optionsSchema = z
  .strictObject({
    fields: z.array(field, someFields).min(1, someFields).max(16, someFields),
    language: z
      .string(languageRule)
      .regex(/^[a-z_][a-z0-9_.]*$/, languageRule)
      .default("english"),
    // Exact: a misspelled column is undefined, and must not be treated as absent.
    corpus: z.exactOptional(textColumn),
    visibility: z.exactOptional(
      z.union(
        [z.enum(["private", "shared", "public"]), textColumn],
        must(
          "private, shared or public for all rows, or a text column that says it for each. What a team shares: docs/how-to/teams.md",
        ),
      ),
    ),
    owner: z.exactOptional(anyColumn),
    readers: z.exactOptional(z.array(somePolicy, policiesRule).min(1, policiesRule)),
    bm25: z.exactOptional(z.strictObject({ k1: number(0, 10).optional(), b: number(0, 1).optional() })),
  } satisfies ShapeOf<SearchableOptions>)
  .transform(({ visibility = "private", ...options }) => ({ visibility, ...options }))
  .refine(({ visibility }) => visibilitiesOf(visibility).length > 0, {
    path: ["visibility"],
    error: "has none of the values private, shared and public",
  })
  .refine(({ readers, visibility }) => !readers || visibility === "shared", {
    path: ["readers"],
    error: 'is for visibility: "shared". Write that, or leave readers out',
  })
  .refine(({ owner, visibility }) => owner || !visibilitiesOf(visibility).includes("private"), {
    path: ["owner"],
    error:
      "is missing, and private rows are found by their owners. " +
      'Write owner: t.userId; or visibility: "shared" or "public" if that is right for every row; or give its column ' +
      'the values that it has: text("visibility", { enum: ["shared", "public"] })',
  });

type Declaration = Pick<
  SearchTable,
  "fields" | "language" | "corpus" | "visibility" | "owner" | "always" | "visibilities" | "bm25"
>;

/** Keyed by the first policy of each declaration. */
const declarations = new WeakMap<PgPolicy, Declaration>();

/** The corpus of a table without a column for it. */
export const onlyCorpus = "default";

/**
 * Lets callers find a table's rows by `ctx.search`, `ctx.vectorSearch` and `ctx.hybridSearch`. Its policies let users
 * read: their own private rows, shared rows when signed in, public rows always. Declare who may write beside it,
 * usually with `ownerRls`.
 *
 * @throws DefinitionError without a field, with too many, or with one that is not text; for private rows without an owner
 * @example
 * (t) => [...ownerRls(t.userId), ...searchable({ fields: [t.title, t.body], corpus: t.corpus,
 *   visibility: t.visibility, owner: t.userId })]
 */
export function searchable(options: SearchableOptions): PgPolicy[] {
  const { fields, language, corpus, visibility, owner, readers, bm25 } = checkOptions(
    "searchable",
    optionsSchema,
    options,
  );
  const always = typeof visibility === "string" ? visibility : null;
  const column = typeof visibility === "string" ? undefined : visibility;
  const visibilities = visibilitiesOf(visibility);
  const policies = readers ?? policiesOf(column, visibilities, owner);
  const names = { corpus: corpus?.name ?? null, visibility: column?.name ?? null, owner: owner?.name ?? null };
  const weights = fields.some(({ weight }) => weight !== 1) ? fields.map(({ weight }) => weight) : undefined;
  const declared = {
    fields: fields.map(({ column }) => column.name),
    ...{ language, ...names, always, visibilities },
    bm25: bm25 || weights ? { ...bm25, weights } : null,
  };
  declarations.set(policies[0] as PgPolicy, declared);
  return policies;
}

/** The visibilities that rows may have. A column with an enum names its values. */
function visibilitiesOf(visibility: AnyPgColumn | Visibility): Visibility[] {
  if (typeof visibility === "string") return [visibility];
  // Drizzle hands a column without its values to the third argument of pgTable.
  const { enumValues } =
    Object.values(getTableColumns(visibility.table)).find(({ name }) => name === visibility.name) ?? {};
  const values = enumValues?.length ? enumValues : null;
  return (["public", "shared", "private"] as const).filter((which) => values === null || values.includes(which));
}

/** One policy per visibility. */
function policiesOf(column: AnyPgColumn | undefined, visibilities: Visibility[], owner?: AnyPgColumn): PgPolicy[] {
  const authenticated = pgRole("svc_authenticated").existing();
  const to = {
    public: [pgRole("svc_anonymous").existing(), authenticated],
    shared: authenticated,
    private: authenticated,
  };
  return visibilities.map((which) => {
    const parts = column ? [sql`${column} = ${platformSql(`'${which}'`)}`] : [];
    if (which === "private" && owner) parts.push(isCaller(owner, "searchable"));
    const using = parts.length > 0 ? sql.join(parts, sql` and `) : sql`true`;
    const policy = pgPolicy(`select_${which}`, { for: "select", to: to[which], using });
    if (which === "private" && owner) readsOwn(policy, owner);
    return policy;
  });
}

/** The searchable tables among a schema's exports, by export name. */
export function searchTables(schema: Readonly<Record<string, unknown>>): Map<string, SearchTable> {
  const found = new Map<string, SearchTable>();
  for (const [name, value] of Object.entries(schema)) {
    if (!is(value, PgTable)) continue;
    const { policies } = tableConfig(value);
    const declared = policies.map((policy) => declarations.get(policy)).find((one) => one !== undefined);
    if (declared) found.set(name, describe(value, declared));
  }
  return found;
}

function describe(table: PgTable, declared: Declaration): SearchTable {
  const { schema = "public", columns: all } = tableConfig(table);
  const columns = describeColumns(table);
  const keys = primaryKey(table);
  const id = columns.find(({ name }) => name === keys[0]?.name);
  if (!id || keys.length !== 1) {
    throw new DefinitionError(`searchable: ${getTableName(table)} needs a primary key of one column.`, {
      hint: 'Add one, for example uuid("id").primaryKey().defaultRandom().',
    });
  }
  return {
    table,
    name: quotedName(schema, getTableName(table)),
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
