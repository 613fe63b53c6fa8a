/**
 * The document's `components.schemas`: named schemas, and recursive schemas, whose references would break inside the document.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type Direction, type JsonSchema, jsonSchemaOf } from "./json-schema.ts";

const prefix = "#/components/schemas/";

export class Schemas {
  readonly all: Record<string, JsonSchema> = {};

  /** @returns a reference to it. A name in use gets a number */
  add(name: string, schema: JsonSchema): JsonSchema {
    const free = this.#free(name);
    this.all[free] = schema;
    return { $ref: prefix + free };
  }

  /** What a Standard Schema takes or returns; undefined without one, or if its library cannot describe it. */
  describe(name: string, schema: StandardSchemaV1 | undefined, direction: Direction): JsonSchema | undefined {
    const described = schema && jsonSchemaOf(schema, direction);
    return described && this.inline(`${name}.${direction === "input" ? "Input" : "Output"}`, described);
  }

  /**
   * A schema that can be placed anywhere in the document.
   *
   * @param name the name for its parts that refer to each other
   */
  inline(name: string, schema: JsonSchema): JsonSchema {
    const names = new Map<string, string>();
    const target = (reference: string): string => {
      let known = names.get(reference);
      if (known === undefined) {
        const last = decodeURIComponent(reference).split("/").pop() ?? "";
        known = this.#free(last === "#" ? name : `${name}.${last.replace(/[^\w.-]/g, "_")}`);
        names.set(reference, known);
        this.all[known] = {}; // reserve the name before the nested schemas are added
        this.all[known] = walk(resolve(schema, reference)) as JsonSchema;
      }
      return prefix + known;
    };
    const walk = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(walk);
      if (typeof value !== "object" || value === null) return value;
      const entries = Object.entries(value).filter(([key]) => key !== "$defs");
      return Object.fromEntries(
        entries.map(([key, inner]) => [
          key,
          key === "$ref" && typeof inner === "string" && inner.startsWith("#") ? target(inner) : walk(inner),
        ]),
      );
    };
    return walk(schema) as JsonSchema;
  }

  #free(name: string): string {
    let free = name;
    for (let number = 2; free in this.all; number++) free = `${name}_${number}`;
    return free;
  }
}

/** The target of a reference such as "#/$defs/node"; the schema that accepts anything if there is none. */
function resolve(root: JsonSchema, reference: string): unknown {
  const keys = decodeURIComponent(reference).split("/").slice(1);
  return keys.reduce<unknown>((at, key) => Object(at)[key.replaceAll("~1", "/").replaceAll("~0", "~")] ?? {}, root);
}
