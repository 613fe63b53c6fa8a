/**
 * Checks that the procedure of a webhook takes its bodies, by an example: what is missing in each body, and columns whose values
 * have another type. What depends on the values of a row, such as null, is left to the procedure.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ColumnDescription, WireKind } from "../contract/crud.ts";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import type { WebhookEvent } from "../contract/webhook.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { runsCode } from "../kit/run-schema.ts";

/** As `wireForms` has them. Values of the kinds that are missing can be anything. */
const examples: Partial<Record<WireKind, unknown>> = {
  integer: 1,
  bigint: "1",
  number: 1,
  numeric: "1",
  boolean: true,
  text: "a",
  uuid: "00000000-0000-4000-8000-000000000000",
  timestamp: "2026-01-01T00:00:00+00:00",
  date: "2026-01-01",
  bytes: "YQ==",
};

export interface ToldBody {
  name: string;
  when: readonly WebhookEvent[];
  columns: readonly ColumnDescription[];
}

/** @param where the first words of the message @throws DefinitionError for a body that the procedure never takes */
export function refuseBody(where: string, { input }: ProcedureDefinition, { name, when, columns }: ToldBody): void {
  const data = columns.map((one) => [one.property, exampleOf(one)] as const);
  const timestamp = "2026-01-01T00:00:00+00:00";
  const body = { type: name, operation: when[0], timestamp, data: Object.fromEntries(data) };
  const wrong = issuesOf(input, body).find((issue) => isCertain(issue, body));
  if (!wrong) return;
  const path = pathOf(wrong).join(".");
  throw new DefinitionError(`${where}: its procedure does not take the body. ${path && `${path}: `}${wrong.message}`, {
    hint:
      `The body is { type, operation, timestamp, data: { ${data.map(([property]) => property).join(", ")} } }, with values as in ` +
      "the answers of generated procedures: those of numeric, bigint and timestamp columns are texts.",
  });
}

/** None, if the schema runs code of its author, answers later, or fails: then it is asked about real bodies alone. */
function issuesOf(schema: StandardSchemaV1 | undefined, body: unknown): readonly StandardSchemaV1.Issue[] {
  try {
    if (!schema || runsCode(schema)) return [];
    const result = schema["~standard"].validate(body);
    if (!(result instanceof Promise)) return result.issues ?? [];
    result.catch(() => {});
  } catch {}
  return [];
}

const exampleOf = ({ kind, isArray, values }: ColumnDescription): unknown =>
  isArray ? [] : (values?.[0] ?? examples[kind]);

const pathOf = ({ path = [] }: StandardSchemaV1.Issue) =>
  path.map((part) => (typeof part === "object" ? part.key : part));

/** A rule of the author about values, such as a length, says nothing: the row may have others. */
function isCertain(issue: StandardSchemaV1.Issue, body: Record<string, unknown>): boolean {
  const { code = "" } = issue as { code?: string };
  const path = pathOf(issue);
  let value: unknown = body;
  for (const [index, part] of path.entries()) {
    const isLast = index === path.length - 1;
    const holder = value as Record<PropertyKey, unknown>;
    if (Array.isArray(holder)) return false;
    if (!Object.hasOwn(Object(holder), part)) return isLast && code !== "custom";
    value = holder[part];
    if (value === undefined) return false; // any value
  }
  return code === "invalid_type" || code === "unrecognized_keys";
}
