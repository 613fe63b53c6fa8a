/** Names and literals in the SQL that `svc migrate generate` writes: quoted only where PostgreSQL needs it. */

// Words that cannot be a column's name without quotes. https://www.postgresql.org/docs/current/sql-keywords-appendix.html The
// last line is PL/pgSQL's own: after the dot of a record it treats them as keywords, as in `input.begin`.
const reserved = new Set(
  (
    "all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation " +
    "column concurrently constraint create cross current_catalog current_date current_role current_schema " +
    "current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for " +
    "foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral " +
    "leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer overlaps " +
    "placing primary references returning right select session_user similar some symmetric system_user table " +
    "tablesample then to trailing true union unique user using variadic verbose when where window with " +
    "begin by declare execute foreach if loop strict while"
  ).split(" "),
);

/** A name as SQL accepts it. */
export const quote = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) && !reserved.has(name) ? name : `"${name.replaceAll('"', '""')}"`;

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export const list = (names: readonly string[]): string => names.map(quote).join(", ");

/** The parts of a snapshot's key, `schema.name`. A schema cannot hold a dot; a name may. */
export function split(key: string): { schema: string; name: string } {
  const dot = key.indexOf(".");
  return { schema: key.slice(0, dot), name: key.slice(dot + 1) };
}

/** A snapshot's key as SQL accepts it: `public.tasks`, `auth."user"`. */
export function qualified(key: string): string {
  const { schema, name } = split(key);
  return `${quote(schema)}.${quote(name)}`;
}

/** A snapshot's key for people: without the default schema `public`. */
export const short = (key: string): string => key.replace(/^public\./, "");

/** In bytes. */
const longest = 63;

/** The letters of a name that fit so many bytes. */
export const beginOf = (name: string, bytes: number): string =>
  new TextDecoder().decode(Buffer.from(name).subarray(0, bytes), { stream: true });

/**
 * The name that PostgreSQL derives for a table's sequence or constraint: `tasks_id_seq`, `tasks_pkey`. If the name is
 * too long, it shortens the longer part first. Source: makeObjectName(),
 * https://github.com/postgres/postgres/blob/master/src/backend/commands/indexcmds.c
 */
export function derivedName(table: string, column: string | null, label: string): string {
  const room = longest - Buffer.byteLength(label) - (column === null ? 1 : 2);
  let [first, second] = [Buffer.byteLength(table), Buffer.byteLength(column ?? "")];
  while (first + second > room) {
    if (first > second) first--;
    else second--;
  }
  const parts = column === null ? [beginOf(table, first)] : [beginOf(table, first), beginOf(column, second)];
  return [...parts, label].join("_");
}

/** Whether an expression may mention a name: false positives are possible, false negatives are not. */
export const mentions = (expression: string, name: string): boolean =>
  /^\w+$/.test(name) ? expression.split(/\W+/).includes(name) : expression.includes(name);
