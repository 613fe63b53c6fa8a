/**
 * Rows of one table as a user sees them: pages by the primary key, no count, cells cut by the server.
 * Next hop: `view.ts`; `sql/studio/studio_columns.sql`.
 */
import pg from "pg";
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { type Viewer, viewAs, viewer } from "./view.ts";

export interface Column {
  name: string;
  /** As SQL has it. */
  quoted: string;
  type: string;
  /** Its place in the primary key, from 1. */
  key_place: number | null;
  is_null: boolean;
  for_anonymous: boolean;
  for_users: boolean;
  says: string | null;
}

const name = z.string().min(1).max(200);
/** The descriptions are for coding agents. */
export const tableName = name.describe("With its schema, such as public.tasks.");
export const key = z.array(z.string().max(10_000)).min(1).max(32).describe("The values of the primary key, as text.");
const filterInput = z.strictObject({
  column: name,
  operator: z.enum(["=", "<>", "<", ">", "contains", "is null", "is not null"]),
  value: z.string().max(10_000),
});

export const cellInput = z.strictObject({ table: tableName, as: viewer, key, column: name });

export const pageInput = z.strictObject({
  table: tableName,
  as: viewer,
  /** The key of the last row of the page before. */
  after: key.nullable().default(null),
  filter: filterInput.nullable().default(null),
  limit: z.int().min(1).max(200).default(50),
  /** Whether to add the keys of rows that the viewer does not see; not with a filter. */
  ghosts: z.boolean().default(false),
});
type PageInput = z.output<typeof pageInput>;

interface Row {
  /** null where the table has no primary key, and where it is longer than what is sent. */
  key: string[] | null;
  /** As PostgreSQL writes it; null where the row is hidden from the viewer. */
  cells: (string | null)[] | null;
  /** Columns whose text is longer than what is sent. */
  cut: number[];
}

export interface Rows {
  /** Those that the viewer's role may select. */
  columns: Column[];
  /** Names of the others. */
  withheld: string[];
  rows: Row[];
  /** The key after which the next page begins; null on the last one. */
  next: string[] | null;
  /** Whether more rows are hidden in this range than are listed. */
  moreHidden: boolean;
  /** Whether the viewer may select the primary key: without it there are no further pages, and no hidden rows. */
  isKeyed: boolean;
  /** Whether the viewer sees more rows than these. */
  more: boolean;
}

/** Characters of a cell in a page of rows, and of one that is opened. */
const shortCell = 400;
const wholeCell = 1_048_576;
/** Characters by which a row is named. */
const beginning = 80;
/** Characters of a key. A longer one is in an index only where it compresses well; the row cannot be opened. */
const longestKey = 4_000;
/** Keys that are read for one page, to find the hidden ones. */
const mostKeys = 500;

const quote = pg.escapeIdentifier;

/** @throws SvcError NOT_FOUND for an unknown table; so its name may stand in a statement */
export async function columnsOf(transaction: RequestTransaction, table: string): Promise<Column[]> {
  const text = "select c.*, quote_ident(c.name) as quoted from svc_private.studio_columns($1) c";
  const { rows } = await transaction.asLogin({ text }, [table]);
  if (rows.length === 0) throw new SvcError("NOT_FOUND", `There is no table ${table}.`);
  return rows;
}

const names = (columns: readonly Column[]) => columns.map(({ name }) => `t.${quote(name)}`).join(", ");

export const seenBy = (viewer: Viewer) => (column: Column) =>
  viewer === null ? column.for_anonymous : column.for_users;

export const keyOf = (columns: readonly Column[]): Column[] =>
  columns.filter(({ key_place }) => key_place !== null).sort((a, b) => Number(a.key_place) - Number(b.key_place));

export const readRows = (pool: pg.Pool, input: PageInput): Promise<Rows> =>
  viewAs(pool, input.as, async (transaction) => {
    const all = await columnsOf(transaction, input.table);
    const columns = all.filter(seenBy(input.as));
    const key = keyOf(all);
    const withheld = all.filter((column) => !columns.includes(column)).map(({ name }) => name);
    const isKeyed = key.length > 0 && key.every((column) => columns.includes(column));
    const seen = columns.length === 0 ? [] : await select(transaction, input, columns, isKeyed ? key : []);
    const isLast = seen.length <= input.limit;
    // The next page begins after a key: rows behind the last one that is sent are on that page.
    const sent = seen.slice(0, input.limit);
    const keyed = isLast ? -1 : sent.findLastIndex((row) => row.key !== null);
    const page = keyed < 0 ? sent : sent.slice(0, keyed + 1);
    const last = page.at(-1)?.key ?? null;
    const ends = isLast || last !== null;
    // Without the key, the rows that the viewer sees cannot be told from the hidden ones.
    const wantsGhosts = input.ghosts && key.length > 0 && (isKeyed || columns.length === 0) && !input.filter && ends;
    const { rows, moreHidden } = wantsGhosts
      ? await addHidden(transaction, input, page, isLast ? null : last)
      : { rows: page, moreHidden: false };
    return { columns, withheld, rows, next: isLast ? null : last, moreHidden, isKeyed, more: !isLast };
  });

async function select(transaction: RequestTransaction, input: PageInput, columns: Column[], key: Column[]) {
  const values: unknown[] = [];
  const value = (it: unknown, type: string) => `$${values.push(it)}::text::${type}`;
  const conditions: string[] = [];
  if (input.after && key.length > 0) {
    if (input.after.length !== key.length) throw new SvcError("BAD_REQUEST", "The key has another number of columns.");
    const bounds = key.map(({ type }, index) => value(input.after?.[index], type));
    conditions.push(`(${names(key)}) > (${bounds})`);
  }
  if (input.filter) conditions.push(condition(input.filter, columns, value));
  const cells = columns.map(({ name }) => `left(t.${quote(name)}::text, ${shortCell + 1})`);
  const keys = key.map(({ name }) => `t.${quote(name)}::text`);
  const sentKey = `case when length(concat(${keys})) <= ${longestKey} then array[${keys}] end`;
  const text = `select array[${cells}]::text[] as cells, ${keys.length > 0 ? sentKey : "null"} as key
    from ${input.table} t ${conditions.length > 0 ? `where ${conditions.join(" and ")}` : ""}
    ${key.length > 0 ? `order by ${names(key)}` : ""} limit ${Number(input.limit) + 1}`;
  const { rows } = await transaction.query({ text }, values);
  return rows.map(({ cells, key }: { cells: (string | null)[]; key: string[] | null }): Row => {
    const shown = cells.map((cell) => beginningOf(cell, shortCell));
    const cut = shown.flatMap(({ isCut }, index) => (isCut ? [index] : []));
    return { key, cells: shown.map(({ cell }) => cell), cut };
  });
}

/** By code points, as PostgreSQL's left() counts. @param cell read with one character more, if it has that many */
export function beginningOf(cell: string | null, most: number): { cell: string | null; isCut: boolean } {
  const characters = [...(cell ?? "")];
  const isCut = characters.length > most;
  return { cell: isCut ? characters.slice(0, most).join("") : cell, isCut };
}

/** A cast to character(3) or bit(3) cuts a longer value, which would find other rows. */
const withoutLength = (type: string) =>
  type
    .replace(/\s*\([\d,-]+\)/, "")
    .replace(/^character(?! varying)/, "bpchar")
    .replace(/^bit(?! varying)/, '"bit"');

function condition(
  filter: z.output<typeof filterInput>,
  columns: Column[],
  value: (it: unknown, type: string) => string,
): string {
  const column = columns.find(({ name }) => name === filter.column);
  if (!column) throw new SvcError("BAD_REQUEST", `The viewer sees no column ${filter.column}.`);
  const name = `t.${quote(column.name)}`;
  if (filter.operator.startsWith("is")) return `${name} ${filter.operator}`;
  if (filter.operator === "contains") return `strpos(lower(${name}::text), lower(${value(filter.value, "text")})) > 0`;
  const type = withoutLength(column.type);
  const asText = ["=", "<>"].includes(filter.operator) && withoutEquality.test(type) ? "::text" : "";
  return `${name}${asText} ${filter.operator} ${value(filter.value, type)}${asText}`;
}

/** Types without `=`, and those of geometry, some of which compare areas by it. */
const withoutEquality = /^(json|xml|point|line|lseg|box|path|polygon|circle)(\[\])*$/;

/** Puts the keys that the viewer does not see between the rows that the viewer sees. */
async function addHidden(transaction: RequestTransaction, input: PageInput, page: Row[], upto: string[] | null) {
  const text = `select case when length(array_to_string(key, '')) <= ${longestKey} then key end as key
    from svc_private.studio_keys($1, $2, $3, $4) as key`;
  const { rows } = await transaction.asLogin({ text }, [input.table, input.after, upto, mostKeys]);
  const [keyed, others] = [page.filter((row) => row.key), page.filter((row) => !row.key)];
  const seen = new Map(keyed.map((row) => [JSON.stringify(row.key), row]));
  const merged = rows.flatMap(({ key }: { key: string[] | null }): Row[] => {
    const id = JSON.stringify(key);
    const row = seen.get(id) ?? { key, cells: null, cut: [] };
    seen.delete(id);
    return key === null ? [] : [row];
  });
  return { rows: [...merged, ...seen.values(), ...others], moreHidden: rows.length === mostKeys };
}

/**
 * By id the beginning of a row's text, in the first of these fields that the viewer may select.
 *
 * @param ids of rows that the viewer sees
 */
export async function beginnings(
  transaction: RequestTransaction,
  { table, as }: Pick<PageInput, "table" | "as">,
  fields: readonly string[],
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  const seen = (await columnsOf(transaction, table)).filter(seenBy(as));
  const [[key, ...others], name] = [keyOf(seen), fields.find((field) => seen.some((column) => column.name === field))];
  if (!key || others.length > 0 || !name) return new Map();
  const text = `select t.${quote(key.name)}::text as id, left(t.${quote(name)}::text, ${beginning}) as text
    from ${table} t where t.${quote(key.name)} = any ($1::text[]::${key.type}[])`;
  const { rows } = await transaction.query({ text }, [ids]);
  return new Map(rows.map(({ id, text }) => [id, text]));
}

/** The text of one cell, for a cell that was cut. */
export const readCell = (pool: pg.Pool, input: z.output<typeof cellInput>) =>
  viewAs(pool, input.as, async (transaction) => {
    const all = await columnsOf(transaction, input.table);
    const key = keyOf(all);
    const column = all.filter(seenBy(input.as)).find(({ name }) => name === input.column);
    if (!column || key.length === 0 || key.length !== input.key.length) throw new SvcError("NOT_FOUND");
    const values = key.map(({ type }, index) => `$${index + 1}::text::${type}`);
    const text = `select left(t.${quote(column.name)}::text, ${wholeCell + 1}) as cell
      from ${input.table} t where (${names(key)}) = (${values})`;
    const { rows } = await transaction.query({ text }, input.key);
    if (!rows[0]) throw new SvcError("NOT_FOUND", "The viewer sees no such row.");
    return beginningOf(rows[0].cell, wholeCell);
  });
