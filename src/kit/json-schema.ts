/**
 * JSON Schema (2020-12) of a Standard Schema, as far as its library tells it (https://standardschema.dev/json-schema).
 * Nothing here validates: what is said is for readers of the API.
 * Next hop: `v.ts` describes itself with this, `src/openapi/` the application.
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

export type JsonSchema = Record<string, unknown>;

/** `input`: what a caller sends. `output`: what it gets, as JSON carries it. */
export type Direction = "input" | "output";

/** @returns undefined where the library does not say, or cannot */
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
    return undefined; // a library may not know how to say it
  }
}

/** Whether a value may be left out. A schema whose answer takes time is taken at its word: no. */
export function takesNothing(schema: StandardSchemaV1): boolean {
  try {
    const result = schema["~standard"].validate(undefined);
    return !(result instanceof Promise) && !result.issues;
  } catch {
    return false;
  }
}

/** Points the references of a schema to where it stands now. @param pointer from the new root, such as "/items" */
export function relocate(schema: JsonSchema, pointer: string): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "$ref" && typeof value === "string" && value.startsWith("#") ? `#${pointer}${value.slice(1)}` : value,
  );
}

/** A key as a segment of a JSON pointer (RFC 6901). */
export const segment = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** What a reader is to know where JSON alone does not do. */
const needsEncoding = (what: string) => ({
  description: `${what}: send the arguments in the encoding { "json": …, "meta": […] }.`,
});

/** Forms that results take on the wire (docs/reference/procedures.md), where a library has none. */
const results: Record<string, JsonSchema> = {
  date: { type: "string", format: "date-time" },
  bigint: { type: "string", pattern: "^-?[0-9]+$" },
  set: { type: "array" },
  map: { type: "array", items: { type: "array", minItems: 2, maxItems: 2 } },
};

const inputs: Record<string, JsonSchema> = {
  date: needsEncoding("A date"),
  bigint: needsEncoding("A whole number of any size"),
  set: needsEncoding("A set"),
  map: needsEncoding("A map"),
};

/** Of `z.coerce`, which makes something of plain JSON. */
const coerced: Record<string, JsonSchema> = {
  date: { type: "string", format: "date-time" },
  bigint: { type: ["string", "integer"] },
};

interface ZodSeen {
  zodSchema: { _zod: { def: { type: string; coerce?: boolean } } };
  jsonSchema: JsonSchema;
}

/** What each library wants to be told, so that it leaves open what it cannot say, instead of giving up. */
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
