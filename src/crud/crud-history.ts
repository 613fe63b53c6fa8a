/**
 * The option `history` of `createCrud`: the check of the table, the arguments and the schemas of `<prefix>.history`.
 * Next hop: `sql/history/find_history.sql`.
 */
import type { PgTable } from "drizzle-orm/pg-core";
import type { ColumnDescription, CrudDefinition } from "../contract/crud.ts";
import { auditedTable } from "../history/audited.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { type Input, own, rowLimit } from "../kit/input-checks.ts";
import { exactly, type JsonSchema, objectOf, someOf } from "../kit/json-schema.ts";
import type { Issue } from "../kit/svc-error.ts";
import { visibleColumns } from "./crud-definition.ts";
import { calling, type Writing } from "./crud-text.ts";

/** @throws DefinitionError for a table whose changes are not kept, or whose entries do not name rows by `id` */
export function checkHistory(table: PgTable, id: ColumnDescription): void {
  const audited = auditedTable(table);
  if (!audited) {
    throw new DefinitionError(`createCrud: history needs a table that is audited.`, {
      hint: "Return it from the table's third argument: (t) => [...ownerRls(t.userId), ...audited()].",
    });
  }
  if (audited.keys.length === 1 && audited.keys[0] === id.name) return;
  throw new DefinitionError(`createCrud: history of ${audited.name} needs id as its primary key.`, {
    hint: "Leave history out, and read select * from svc.row_history(…) in a handler.",
  });
}

/** The generated function. */
export const historyOf = (crud: CrudDefinition): Writing =>
  calling(
    crud,
    "find_history",
    "stable",
    `What changed in a row of ${crud.table}, newest first: {data, nextCursor}; null when the caller may not see the row. ` +
      "Takes {id, limit, cursor}.",
  );

/** The SQL function's argument. @param id that the input has */
export function historyArguments(crud: CrudDefinition, id: string | number, object: Input, issues: Issue[]): Input {
  const cursor = own(object, "cursor") ?? undefined;
  if (cursor !== undefined && !(typeof cursor === "string" && /^[1-9]\d{0,17}$/.test(cursor))) {
    issues.push({ path: ["cursor"], message: "must be nextCursor of the page before" });
  }
  const limit = own(object, "limit") ?? undefined;
  return {
    id: String(id),
    ...(limit !== undefined && { limit: rowLimit(limit, crud.maxLimit, ["limit"], issues) }),
    ...(cursor !== undefined && { cursor }),
  };
}

/** The arguments and the result in JSON Schema, of pages of what belongs to a row. */
export function pageSchemas(
  { maxLimit, defaultLimit }: CrudDefinition,
  id: JsonSchema,
  items: JsonSchema,
): [JsonSchema, JsonSchema] {
  const limit = { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit };
  const cursor = { type: ["string", "null"], description: "nextCursor of the page before." };
  return [
    objectOf({ id, limit, cursor }, { required: ["id"] }),
    exactly({ data: { type: "array", items }, nextCursor: { type: ["string", "null"] } }),
  ];
}

export function historySchemas(crud: CrudDefinition, id: JsonSchema): [JsonSchema, JsonSchema] {
  const change = {
    type: ["array", "null"],
    minItems: 2,
    maxItems: 2,
    description: "Before and after; null: not kept.",
  };
  const entry = exactly({
    id: { type: "string" },
    at: { type: "string", format: "date-time" },
    actor: { type: ["string", "null"], description: "The id of the user; null: the system or an administrator." },
    operation: { enum: ["insert", "update", "delete"] },
    changed: someOf(Object.fromEntries(visibleColumns(crud).map(({ property }) => [property, change]))),
  });
  return pageSchemas(crud, id, entry);
}
