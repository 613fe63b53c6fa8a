/**
 * JSON Schema (2020-12) of a Standard Schema, if its library can produce it (https://standardschema.dev/json-schema).
 * For the API description only; nothing here validates.
 * Next hop: `v.ts` describes itself with this, `src/openapi/` the application.
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

export type JsonSchema = Record<string, unknown>;

/** An object that has all of these members. @param more further rules, and `required` if only some must be there */
export const objectOf = (properties: Record<string, JsonSchema>, more: JsonSchema = {}): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  ...more,
});

/** An object of these members and no others. */
export const exactly = (properties: Record<string, JsonSchema>, more: JsonSchema = {}): JsonSchema =>
  objectOf(properties, { additionalProperties: false, ...more });

/** An object that has some of these members and no others. */
export const someOf = (properties: Record<string, JsonSchema>, more: JsonSchema = {}): JsonSchema => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...more,
});

/** `input`: sent by a caller. `output`: returned to it, as JSON represents it. */
export type Direction = "input" | "output";

/** @returns undefined if the library cannot produce JSON Schema */
export function jsonSchemaOf(schema: StandardSchemaV1, direction: Direction): JsonSchema | undefined {
  const { jsonSchema: converter, vendor } = schema["~standard"] as Partial<StandardJSONSchemaV1.Props> & {
    vendor: string;
  };
  if (!converter) return undefined;
  try {
    const libraryOptions = optionsOf(vendor, direction);
    const { $schema: _, "~standard": __, ...found } = converter[direction]({ target: "draft-2020-12", libraryOptions });
    return found;
  } catch {
    return undefined; // a library may not support this schema
  }
}

/** Whether a value may be omitted. A schema that validates asynchronously counts as no. */
export function takesNothing(schema: StandardSchemaV1): boolean {
  try {
    const result = schema["~standard"].validate(undefined);
    if (result instanceof Promise) result.catch(() => {}); // asked for nothing, nobody waits for it
    return !(result instanceof Promise) && !result.issues;
  } catch {
    return false;
  }
}

/** Rewrites the references of a schema for its new position. @param pointer from the new root, such as "/items" */
export function relocate(schema: JsonSchema, pointer: string): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "$ref" && typeof value === "string" && value.startsWith("#") ? `#${pointer}${value.slice(1)}` : value,
  );
}

/** A key as a segment of a JSON pointer (RFC 6901). */
export const segment = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** A note for readers if JSON alone cannot represent the value. */
const needsEncoding = (what: string) => ({
  description: `${what}: send the arguments in the encoding { "json": …, "meta": […] }.`,
});

/** Wire forms of results (docs/reference/procedures.md), for types that a library cannot describe. */
const results: Record<string, JsonSchema> = {
  date: { type: "string", format: "date-time" },
  bigint: { type: "string", pattern: "^-?[0-9]+$" },
  set: { type: "array", items: {} },
  map: { type: "array", items: { type: "array", items: {}, minItems: 2, maxItems: 2 } },
};

const inputs: Record<string, JsonSchema> = {
  date: needsEncoding("A date"),
  bigint: needsEncoding("A whole number of any size"),
  set: needsEncoding("A set"),
  map: needsEncoding("A map"),
};

/** `z.coerce` converts plain JSON to these types. */
const coerced: Record<string, JsonSchema> = {
  date: { type: "string", format: "date-time" },
  bigint: { type: ["string", "integer"] },
};

interface ZodSeen {
  zodSchema: { _zod: { def: { type: string; coerce?: boolean } } };
  jsonSchema: JsonSchema;
}

/** Options per library that leave unsupported types open instead of throwing. */
function optionsOf(vendor: string, direction: Direction): Record<string, unknown> {
  if (vendor === "zod") {
    const forms = direction === "input" ? inputs : results;
    const override = ({ zodSchema, jsonSchema }: ZodSeen) => {
      const { type, coerce } = zodSchema._zod.def;
      Object.assign(jsonSchema, coerce ? coerced[type] : forms[type]);
    };
    return { unrepresentable: "any", override };
  }
  if (vendor === "arktype") {
    const date = direction === "input" ? inputs.date : results.date;
    return { fallback: { date: () => date, default: ({ base }: { base: JsonSchema }) => base } };
  }
  return vendor === "valibot" ? { errorMode: "ignore" } : {};
}
