/**
 * Checks the rows that callers send to generated CRUD and turns them into the arguments of the SQL functions. Unknown
 * and managed keys are ignored; a wrong type is an error with its path.
 * Next hop: `wire-kinds.ts` for the forms of values, `column-limits.ts` for their limits, `crud-list.ts` for the
 * arguments of lists.
 */
import type { ColumnDescription, CrudDefinition, CrudOperation, CrudStatement } from "../contract/crud.ts";
import { check, emptyInput, type Input, own, toObject } from "../kit/input-checks.ts";
import { type Issue, mostIssues } from "../kit/svc-error.ts";
import { aggregateArguments } from "./aggregate.ts";
import { findColumn, writableColumns } from "./crud-definition.ts";
import { retryArguments } from "./crud-deliveries.ts";
import { historyArguments } from "./crud-history.ts";
import { keyNamed, keysOf } from "./crud-keys.ts";
import { listValues } from "./crud-list.ts";
import { manyArguments } from "./many-arguments.ts";
import { relatedArguments } from "./related-arguments.ts";
import { wireForms } from "./wire-kinds.ts";

/** Most rows of `createMany`. */
export const maxRows = 1_000;

type ToValues = CrudStatement["values"];

/** Creates the function that turns a call's input into SQL arguments. It throws VALIDATION_FAILED. */
export function crudValues(crud: CrudDefinition, operation: CrudOperation): ToValues {
  const writable = writableColumns(crud);
  const reading =
    (read: (object: Input, issues: Issue[]) => ReturnType<ToValues>): ToValues =>
    (input) =>
      check((issues) => read(toObject(input, issues), issues));
  switch (operation) {
    case "list":
      return listValues(crud);
    case "get":
      return reading((object, issues) => getArguments(crud, object, issues));
    case "remove":
      return reading((object, issues) => [idOf(crud.id, object, issues)]);
    case "create":
      return reading((object, issues) => [
        JSON.stringify(withGenerated(crud, rowOf(writable, object, issues, "create"), issues)),
      ]);
    case "upsert":
      return reading((object, issues) => upsertArguments(crud, object, issues));
    case "createMany":
      return (input) => [JSON.stringify(newRows(crud, input).map((row) => withGenerated(crud, row)))];
    case "aggregate":
      return (input) => [JSON.stringify(aggregateArguments(crud, input))];
    case "retryDelivery":
      return reading((object, issues) => [
        JSON.stringify(retryArguments(idOf(crud.id, object, issues), object, issues)),
      ]);
    case "history":
    case "deliveries":
      return reading((object, issues) => [
        JSON.stringify(historyArguments(crud, idOf(crud.id, object, issues), object, issues)),
      ]);
    case "updateMany":
      return reading((object, issues) => {
        const inner: Issue[] = [];
        const set = rowOf(writable, toObject(own(object, "set"), inner), inner, "update");
        move(inner, "set", issues);
        return [manyArguments(crud, object, ["filters", "set", "max"], issues), JSON.stringify(set)];
      });
    case "removeMany":
      return reading((object, issues) => [manyArguments(crud, object, ["filters", "max"], issues)]);
    case "update": {
      const canCompare = findColumn(crud, "updatedAt") !== undefined;
      return reading((object, issues) => {
        const changes = rowOf(writable, object, issues, "update");
        const since = canCompare ? ifUnmodifiedSince(object, issues) : {};
        return [idOf(crud.id, object, issues), JSON.stringify({ ...changes, ...since })];
      });
    }
  }
}

export function idOf(id: ColumnDescription, object: Input, issues: Issue[]): string | number {
  const value = own(object, "id");
  const accepted = value === null ? undefined : wireForms[id.kind].accept(value, id.values);
  // A text that is too long matches no row. A number out of range would be an error in SQL.
  const isTooLarge = id.kind === "integer" && accepted !== undefined && !isWithin(id, accepted);
  if (accepted !== undefined && !isTooLarge) return accepted as string | number;
  const isMissing = value === undefined;
  issues.push({
    path: ["id"],
    message: isMissing ? "is required" : `must be ${isTooLarge ? id.limit?.expects : wireForms[id.kind].expects}`,
  });
  return "";
}

/** Adds what `$defaultFn` of the columns makes, where the row has nothing. A null is a value. */
function withGenerated(crud: CrudDefinition, row: Input, issues: Issue[] = []): Input {
  for (const column of crud.columns.filter(({ generate }) => generate)) {
    if (row[column.property] === undefined) row[column.property] = accept(column, column.generate?.(), issues);
  }
  return row;
}

/** The checked rows of `createMany`. @throws SvcError VALIDATION_FAILED with paths such as rows.3.title */
export function newRows(crud: CrudDefinition, input: unknown): Input[] {
  const writable = writableColumns(crud);
  return check((issues) => {
    const rows = own(toObject(input, issues), "rows");
    if (!Array.isArray(rows) || rows.length > maxRows) {
      issues.push({ path: ["rows"], message: `must be an array of at most ${maxRows} rows` });
      return [];
    }
    return rows.map((row, index) => {
      const own: Issue[] = [];
      const checked = rowOf(writable, toObject(row, own), own, "create");
      for (const { path, message } of own.slice(0, mostIssues - issues.length)) {
        issues.push({ path: ["rows", index, ...path], message });
      }
      return checked;
    });
  });
}

/** One by one: an array of the input may have more wrong elements than a call takes arguments. */
function move(issues: readonly Issue[], member: string, to: Issue[]): void {
  for (const { path, message } of issues) to.push({ path: [member, ...path], message });
}

/** The key, the row to insert, and the properties to change where there is such a row. */
function upsertArguments(crud: CrudDefinition, object: Input, issues: Issue[]): string[] {
  const key = keyNamed(crud, [own(object, "by")].flat());
  if (!key) issues.push({ path: ["by"], message: `must be ${keysOf(crud)}` });
  const inner: Issue[] = [];
  const row = rowOf(writableColumns(crud), toObject(own(object, "row"), inner), inner, "create");
  for (const name of key ?? []) {
    if (name === "userId" || (row[name] ?? null) !== null || inner.some(({ path }) => path[0] === name)) continue;
    inner.push({ path: [name], message: "is required: the row is found by it" });
  }
  move(inner, "row", issues);
  const changes = Object.keys(row);
  return [key?.join() ?? "", JSON.stringify(withGenerated(crud, row, issues)), JSON.stringify(changes)];
}

/** The id alone for a plain get, which has a function of its own. */
function getArguments(crud: CrudDefinition, object: Input, issues: Issue[]): (string | number | null)[] {
  const related = relatedArguments(crud, object, 1, issues);
  const key =
    own(object, "id") === undefined
      ? crud.getBy.find((names) => names.every((name) => given(object, name)))
      : undefined;
  if (!key) {
    const id = idOf(crud.id, object, issues);
    return Object.keys(related).length > 0 ? [id, JSON.stringify(related)] : [id];
  }
  const columns = crud.columns.filter(({ property }) => key.includes(property));
  const by = Object.fromEntries(
    columns.map((column) => [column.property, accept(column, object[column.property], issues)]),
  );
  return [null, JSON.stringify({ ...related, by })];
}

const given = (object: Input, name: string) => (own(object, name) ?? null) !== null;

function ifUnmodifiedSince(object: Input, issues: Issue[]): Input {
  const value = own(object, "ifUnmodifiedSince");
  if (value === undefined || value === null) return {};
  const accepted = wireForms.timestamp.accept(value, undefined);
  if (accepted === undefined) {
    issues.push({ path: ["ifUnmodifiedSince"], message: `must be ${wireForms.timestamp.expects}` });
  }
  return { ifUnmodifiedSince: accepted };
}

/** The columns that the row contains, each in the form that the SQL function takes. */
export function rowOf(
  columns: ColumnDescription[],
  object: Input,
  issues: Issue[],
  operation: "create" | "update",
): Input {
  const row = emptyInput();
  for (const column of columns) {
    const value = own(object, column.property);
    if (value === undefined) {
      if (operation === "create" && column.notNull && column.defaultSql === null && !column.generate) {
        issues.push({ path: [column.property], message: "is required" });
      }
      continue;
    }
    if (value === null) {
      if (column.notNull) issues.push({ path: [column.property], message: "must not be null" });
      row[column.property] = null;
      continue;
    }
    row[column.property] = accept(column, value, issues);
  }
  return row;
}

function accept(column: ColumnDescription, value: unknown, issues: Issue[]): unknown {
  const form = wireForms[column.kind];
  if (column.isArray) return acceptAll(column, value, issues);
  const accepted = form.accept(column.toText?.(value) ?? value, column.values);
  if (accepted === undefined) {
    const expected = column.kind === "enum" ? `must be one of ${column.values?.join(", ")}` : `must be ${form.expects}`;
    issues.push({ path: [column.property], message: expected });
  } else if (!isWithin(column, accepted)) {
    issues.push({ path: [column.property], message: `must be ${column.limit?.expects}` });
  }
  return accepted;
}

function acceptAll(column: ColumnDescription, value: unknown, issues: Issue[]): unknown {
  const form = wireForms[column.kind];
  const refuse = (path: Issue["path"], message: string) => {
    issues.push({ path: [column.property, ...path], message });
  };
  const acceptLevel = (items: unknown, level: number, path: number[]): unknown => {
    if (!Array.isArray(items)) return refuse(path, "must be an array");
    return items.map((item, index) => {
      const place = [...path, index];
      if (level < column.dimensions) return acceptLevel(item, level + 1, place);
      if (item === null) return null;
      const accepted = form.accept(column.toText?.(item) ?? item, column.values);
      if (accepted === undefined) refuse(place, `must be ${form.expects}`);
      else if (!isWithin(column, accepted)) refuse(place, `must be ${column.limit?.expects}`);
      return accepted;
    });
  };
  return acceptLevel(value, 1, []);
}

const isWithin = ({ limit }: ColumnDescription, accepted: unknown) => limit?.holds(accepted) ?? true;
