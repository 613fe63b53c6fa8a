/**
 * The writing part of generated CRUD: the columns that create and update set, how remove removes, and how JSON values
 * become column values. `crud-sql.ts` builds functions from these parts.
 */
import type { ColumnDescription, CrudDefinition } from "../contract/crud.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { list, literal, quote } from "../postgres/schema-names.ts";
import { findColumn, writableColumns } from "./crud-definition.ts";
import { byId, notDeleted, qualified, searchPath } from "./crud-text.ts";

/** Optimistic concurrency, for tables with `updatedAt`. Clients keep milliseconds; PostgreSQL is more precise. */
export function unmodified(crud: CrudDefinition): string {
  const updatedAt = findColumn(crud, "updatedAt");
  if (!updatedAt) return "";
  // A row without a time has not been changed.
  return `
    and coalesce(date_trunc('milliseconds', t.${quote(updatedAt.name)}) <= (changes ->> 'ifUnmodifiedSince')::timestamptz, true)`;
}

export function refuseModified(crud: CrudDefinition): string {
  const updatedAt = findColumn(crud, "updatedAt");
  if (!updatedAt) return "";
  return `
  if result is null and changes ->> 'ifUnmodifiedSince' is not null and exists (
    select from ${qualified(crud)} as t
     where ${byId(crud).condition}${notDeleted(crud, " and ")}
       and date_trunc('milliseconds', t.${quote(updatedAt.name)}) > (changes ->> 'ifUnmodifiedSince')::timestamptz
       for update  -- asks the policies for updates: a row that the caller may only read is 404, whenever it changed
  ) then
    raise exception 'the row was changed after %', changes ->> 'ifUnmodifiedSince' using errcode = 'SV409';
  end if;
`;
}

export function removal(crud: CrudDefinition): string {
  if (!crud.softDelete) return `delete from ${qualified(crud)} as t`;
  const value = crud.softDelete.kind === "boolean" ? "true" : "now()";
  return `update ${qualified(crud)} as t set ${quote(crud.softDelete.name)} = ${value}`;
}

/** jsonb_populate_record reads each type by its own input function, so no type is named here. */
export function populate(crud: CrudDefinition, source: string): string {
  const special = given(crud, source).flatMap((column) => {
    const expression = specialInput(column, source);
    return expression ? [`  input.${quote(column.name)} := ${expression};`] : [];
  });
  return [...blank(crud, source), `  input := ${populated(crud, source)};`, ...special].join("\n");
}

/** The record of the columns whose JSON text is their input format. */
function populated(crud: CrudDefinition, source: string): string {
  const columns = given(crud, source).filter((column) => specialInput(column, source) === null);
  const optional = optionals(crud, source);
  const pairs = columns
    .filter((column) => !optional.includes(column))
    .map((column) => `    ${literal(column.name)}, ${source} -> ${literal(column.property)}`);
  const others = optional.map(
    ({ name, property }) =>
      `\n  || case when ${source} ? ${literal(property)} then jsonb_build_object(${literal(name)}, ${source} -> ${literal(property)}) else '{}' end`,
  );
  return [
    `jsonb_populate_record(${optional.length > 0 ? "input" : `null::${qualified(crud)}`}, jsonb_build_object(`,
    chunks(pairs, 50).join("\n  ) || jsonb_build_object(\n"),
    `  )${others.join("")})`,
  ].join("\n");
}

/**
 * A type of the application may be a domain that is NOT NULL. Where the row says nothing of such a column, its value comes from
 * the schema's default or from the row that is there. jsonb_populate_record leaves it alone if its record is not null.
 */
function optionals(crud: CrudDefinition, source: string): ColumnDescription[] {
  if (!crud.columns.some((column) => !mayBeDomain(column))) return [];
  return given(crud, source).filter(
    (column) => mayBeDomain(column) && (source === "changes" || (column.defaultSql !== null && !column.numbered)),
  );
}

const builtIn =
  /^("?bit"?|bit varying|bpchar|cidr|geometry|inet|interval|line|macaddr8?|point|text|time|time with(out)? time zone|varbit|varchar)\b/;
const mayBeDomain = ({ kind, castType, isArray }: ColumnDescription) =>
  kind === "text" && !isArray && !builtIn.test(castType);

/** Makes the record of nulls: only an assignment to a column does, without asking the domains of the others. */
export function blank(crud: CrudDefinition, source: string): string[] {
  const column = optionals(crud, source).length > 0 && crud.columns.find((column) => !mayBeDomain(column));
  return column ? ["  input := null;", `  input.${quote(column.name)} := null;`] : [];
}

/** Splits pairs into groups: a function takes at most 100 arguments, and a table may have more than 50 columns. */
function chunks(pairs: string[], size: number): string[] {
  const count = Math.max(1, Math.ceil(pairs.length / size));
  return Array.from({ length: count }, (_, index) => pairs.slice(index * size, (index + 1) * size).join(",\n"));
}

/** Conversion for types whose JSON text differs from their input format. */
function specialInput(column: ColumnDescription, source: string): string | null {
  const name = literal(column.property);
  const arrayOf = (elements: string, value: string) =>
    `case when jsonb_typeof(${source} -> ${name}) = 'array' then array(select ${value} from ` +
    `${elements}(${source} -> ${name}) with ordinality as items (value, place) order by items.place) end`;
  if (column.dimensions > 1) return null;
  // jsonb_populate_record would take an array that is an element for a further dimension.
  if (column.kind === "json" && column.isArray) {
    return arrayOf(
      "jsonb_array_elements",
      `nullif(items.value, 'null')${column.castType === "json[]" ? "::json" : ""}`,
    );
  }
  const convert = inputConversion(column);
  if (!convert) return null;
  return column.isArray
    ? arrayOf("jsonb_array_elements_text", convert("items.value"))
    : convert(`${source} ->> ${name}`);
}

function inputConversion({ kind, type }: ColumnDescription): ((text: string) => string) | undefined {
  if (kind === "bytes") return (text) => `decode(${text}, 'base64')`;
  // A column without time zone would ignore the value's offset instead of applying it.
  if (kind === "timestamp" && !type.includes("with time zone")) {
    return (text) => `(${text})::timestamptz at time zone 'UTC'`;
  }
  return undefined;
}

/** The columns that create sets: the owner, what this service generates, and what the caller may write. */
function written(crud: CrudDefinition): ColumnDescription[] {
  const userId = findColumn(crud, "userId");
  return [...(userId ? [userId] : []), ...given(crud, "data")];
}

/** The columns whose values arrive as JSON: the caller's, and for a new row those with a `$defaultFn`. */
function given(crud: CrudDefinition, source: string): ColumnDescription[] {
  const generated = source !== "changes" ? crud.columns.filter(({ generate, managed }) => generate && managed) : [];
  return [...generated.filter(({ property }) => property !== "userId"), ...writableColumns(crud)];
}

const mostNumbered = 4;

/**
 * The INSERT of a new row, up to its RETURNING. Only the keyword DEFAULT takes a sequence's next number without a privilege on
 * the sequence, and DEFAULT is not an expression. So there is one statement with a given value and one without.
 *
 * @param returning the end of each statement
 */
export function insertion(crud: CrudDefinition, returning: string): string {
  const columns = written(crud);
  const numbered = columns.filter((column) => column.numbered);
  if (numbered.length > mostNumbered) {
    throw new DefinitionError(`createCrud: ${crud.table} has ${numbered.length} columns that number its rows.`, {
      hint: `${mostNumbered} are possible. Make the others .generatedAlwaysAsIdentity(), which takes no value from callers.`,
    });
  }
  const insert = (missing: readonly ColumnDescription[], indent: string): string => {
    const into = `${indent}insert into ${qualified(crud)} as t`;
    const end = `\n${indent}${returning};`;
    if (columns.length === 0) return `${into} default values${end}`;
    const values = columns.map((column) => `${indent}  ${missing.includes(column) ? "default" : createValue(column)}`);
    return `${into} (${list(columns.map(({ name }) => name))})\n${indent}values (\n${values.join(",\n")}\n${indent})${end}`;
  };
  const choose = (
    open: readonly ColumnDescription[],
    missing: readonly ColumnDescription[],
    indent: string,
  ): string => {
    const [column, ...rest] = open;
    if (!column) return insert(missing, indent);
    return `${indent}if data ? ${literal(column.property)} then
${choose(rest, missing, `${indent}  `)}
${indent}else
${choose(rest, [...missing, column], `${indent}  `)}
${indent}end if;`;
  };
  return choose(numbered, [], "  ");
}

/**
 * @param given  the record of the column's value
 * @param source the JSON that it was made of
 */
function createValue(column: ColumnDescription, given = "input", source = "data"): string {
  if (column.property === "userId") return callerId(column);
  const value = (given !== "input" && specialInput(column, source)) || `${given}.${quote(column.name)}`;
  if (column.defaultSql === null || column.numbered) return value;
  return `case when ${source} ? ${literal(column.property)} then ${value} else ${typedDefault(column.defaultSql, column.castType)} end`;
}

/** Types that take values of another type in a column's DEFAULT, such as `text default gen_random_uuid()`, but not in CASE. */
const takesOthers = /^(text|varchar|bpchar|citext|time|time with(out)? time zone|json|money)$/;
function typedDefault(value: string, type: string): string {
  // In CASE, a float such as random() would make floats of the values that are given.
  const isExact = type === "numeric" || type === "bigint";
  const isLiteral = isText(value) || (isExact && isNumber(value));
  return (isExact || takesOthers.test(type)) && !isLiteral ? `(${value})::${type}` : value;
}

const isText = (value: string) => /^'([^']|'')*'$/.test(value);
const isNumber = (value: string) => /^-?\d+(\.\d+)?$/.test(value);

/** The search path of an INSERT. A column's DEFAULT may name functions and types as migrations do. */
export function insertPath(crud: CrudDefinition): string {
  const isConstant = (value: string) => isText(value) || isNumber(value) || /^(true|false)$/.test(value);
  const computes = written(crud).some(
    ({ defaultSql, numbered }) => defaultSql !== null && !numbered && !isConstant(defaultSql),
  );
  return computes ? searchPath : byId(crud).searchPath;
}

/**
 * The INSERT of all elements of the array `rows`, up to its RETURNING; null where rows must be inserted one by one: a
 * column that numbers rows takes a given value in some of them and DEFAULT in others.
 */
export function insertionOfMany(crud: CrudDefinition): string | null {
  const columns = written(crud);
  if (columns.length === 0 || columns.some(({ numbered }) => numbered)) return null;
  const values = columns.map((column) => `      ${createValue(column, "given", "one.data")}`);
  return `insert into ${qualified(crud)} as t (${list(columns.map(({ name }) => name))})
      select
${values.join(",\n")}
      from jsonb_array_elements(rows) with ordinality as one (data, number)
      cross join lateral ${populated(crud, "one.data")} as given
      order by one.number`;
}

function callerId(column: ColumnDescription): string {
  return `(select svc.current_user_id())${column.kind === "text" ? "" : `::${column.castType}`}`;
}

/** @param given the record of the new values, and `changes` the JSON with their properties */
export function updates(crud: CrudDefinition, given = "input", changes = "changes"): string[] {
  const updatedAt = findColumn(crud, "updatedAt");
  const assignments = writableColumns(crud).map((column) => {
    const name = quote(column.name);
    return `    ${name} = case when ${changes} ? ${literal(column.property)} then ${given}.${name} else t.${name} end`;
  });
  // Not now(), the time at which the transaction began: one that has waited for another would write an earlier time than that.
  if (updatedAt) assignments.push(`    ${quote(updatedAt.name)} = clock_timestamp()`);
  // A table with only an id has nothing to change; the statement still tells whether the row exists.
  return assignments.length > 0 ? assignments : [`    ${quote(crud.id.name)} = t.${quote(crud.id.name)}`];
}
