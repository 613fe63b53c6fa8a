/**
 * Checks what callers send to generated CRUD and turns it into the arguments of the SQL functions.
 * Unknown and managed keys are left out, wrong types are refused with the path, page and limit are clamped in SQL.
 */
import { type Issue, SvcError } from "../errors/svc-error.ts";
import type { ColumnDescription } from "./columns.ts";
import type { CrudDefinition, CrudOperation } from "./crud.ts";
import { wireForms } from "./wire-kinds.ts";

type Input = Record<string, unknown>;
type ToValues = (input: unknown) => (string | number)[];

/** Makes the function that turns a call's input into SQL arguments. It throws VALIDATION_FAILED. */
export function crudValues(crud: CrudDefinition, operation: CrudOperation): ToValues {
  const writable = crud.columns.filter((column) => !column.managed);
  switch (operation) {
    case "list":
      return (input) => [JSON.stringify(listArguments(input))];
    case "get":
    case "remove":
      return (input) => check((issues) => [idOf(crud.id, toObject(input, issues), issues)]);
    case "create":
      return (input) => check((issues) => [rowOf(writable, toObject(input, issues), issues, "create")]);
    case "update":
      return (input) =>
        check((issues) => {
          const object = toObject(input, issues);
          return [idOf(crud.id, object, issues), rowOf(writable, object, issues, "update")];
        });
  }
}

function check<T>(read: (issues: Issue[]) => T): T {
  const issues: Issue[] = [];
  const values = read(issues);
  if (issues.length > 0) throw new SvcError("VALIDATION_FAILED", undefined, { issues });
  return values;
}

function toObject(input: unknown, issues: Issue[]): Input {
  if (isPlain(input)) return input;
  issues.push({ path: [], message: "must be an object" });
  return {};
}

const isPlain = (value: unknown): value is Input =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** `page` and `limit`; a missing argument object is the default request. */
function listArguments(input: unknown): Input {
  if (input === undefined || input === null) return {};
  return check((issues) => {
    const object = toObject(input, issues);
    const result: Input = {};
    for (const key of ["page", "limit"]) {
      const value = own(object, key);
      if (value === undefined || value === null) continue;
      if (typeof value !== "number" || Number.isNaN(value)) issues.push({ path: [key], message: "must be a number" });
      // Infinity has no JSON; what is too large for SQL is clamped there anyway.
      else result[key] = Math.trunc(Math.min(Math.max(value, -1), 2 ** 31 - 1));
    }
    return result;
  });
}

function idOf(id: ColumnDescription, object: Input, issues: Issue[]): string | number {
  const value = own(object, "id");
  const accepted = value === null ? undefined : wireForms[id.kind].accept(value, id.values);
  if (accepted !== undefined) return accepted as string | number;
  issues.push({ path: ["id"], message: `must be ${wireForms[id.kind].expects}` });
  return "";
}

function rowOf(columns: ColumnDescription[], object: Input, issues: Issue[], operation: "create" | "update"): string {
  const row: Input = {};
  for (const column of columns) {
    const value = own(object, column.property);
    if (value === undefined) {
      if (operation === "create" && column.notNull && column.defaultSql === null) {
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
  try {
    return JSON.stringify(row);
  } catch {
    throw new SvcError("VALIDATION_FAILED", "The input contains a value that JSON cannot carry, such as a bigint.");
  }
}

function accept(column: ColumnDescription, value: unknown, issues: Issue[]): unknown {
  const form = wireForms[column.kind];
  const refuse = (path: Issue["path"], message: string) => {
    issues.push({ path: [column.property, ...path], message });
  };
  if (column.isArray) {
    if (!Array.isArray(value)) return refuse([], "must be an array");
    return value.map((item, index) => {
      if (item === null) return null;
      const accepted = form.accept(item, column.values);
      if (accepted === undefined) refuse([index], `must be ${form.expects}`);
      return accepted;
    });
  }
  const accepted = form.accept(value, column.values);
  if (accepted === undefined) {
    refuse([], column.kind === "enum" ? `must be one of ${column.values?.join(", ")}` : `must be ${form.expects}`);
  }
  return accepted;
}

/** Inherited members, `__proto__` among them, are never input. */
const own = (object: Input, key: string) => (Object.hasOwn(object, key) ? object[key] : undefined);
