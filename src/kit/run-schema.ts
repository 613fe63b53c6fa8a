/**
 * Runs a Standard Schema. Zod tries its own without promises first and begins again at the first promise, or error: a check of the
 * author's that asks a database would ask twice, and nobody would await the first answer. So a schema of zod that runs code of
 * its author is run as an asynchronous one from the beginning. Others keep zod's compiled fast way, which such schemas lack.
 */

import type { StandardSchemaV1 } from "@standard-schema/spec";
import { onePer } from "./one-per.ts";

type Result = StandardSchemaV1.Result<unknown>;

/** What is read of a schema or check of zod 4, also of its mini variant. */
interface ZodPart {
  _zod: { def: Record<string, unknown> & { type?: string; check?: string } };
  safeParseAsync?(value: unknown): Promise<{ data?: unknown; error?: { issues: readonly StandardSchemaV1.Issue[] } }>;
}

/** Most schemas and checks within one that are looked at: a lazy schema may make new ones without end. */
const mostParts = 2_000;

/** The result, or a promise of it. */
export function runSchema(schema: StandardSchemaV1, value: unknown): Result | Promise<Result> {
  if (!runsCode(schema)) return schema["~standard"].validate(value);
  return schema.safeParseAsync(value).then(({ data, error }) => (error ? { issues: error.issues } : { value: data }));
}

/** Whether this is a schema of zod that runs code of its author. */
export function runsCode(schema: StandardSchemaV1): schema is StandardSchemaV1 & Required<ZodPart> {
  if (schema["~standard"].vendor !== "zod" || !isZod(schema) || !schema.safeParseAsync) return false;
  return hasCode(schema);
}

const isZod = <T>(value: T): value is T & ZodPart => typeof value === "object" && value !== null && "_zod" in value;

/**
 * Whether a function of the author runs when the schema does, also within others. A record whose keys are transformed counts as
 * without: zod takes no such keys in a schema that is run as an asynchronous one.
 */
const hasCode = onePer((schema: ZodPart): boolean => {
  const parts = partsOf(schema);
  if (parts.some(({ _zod: { def } }) => isZod(def.keyType) && def.type === "record" && transforms(def.keyType)))
    return false;
  return parts.length > mostParts || parts.some(isCode);
});

const transforms = (schema: ZodPart) => partsOf(schema).some(({ _zod: { def } }) => def.type === "transform");

const isCode = ({ _zod: { def } }: ZodPart) =>
  ["transform", "custom", "promise"].includes(def.type ?? "") ||
  def.check === "custom" ||
  typeof def.transform === "function";

/** A schema, and the schemas and checks within it, which may contain themselves. */
function partsOf(schema: ZodPart): ZodPart[] {
  const parts = new Set([schema]);
  for (const part of parts) {
    const { def } = part._zod;
    // To read a default is to run the author's function for it.
    const members = Object.keys(def).map((key) => (key === "defaultValue" ? undefined : def[key]));
    const lazy = def.type === "lazy" ? (def.getter as () => unknown)() : undefined;
    const inner: unknown[] = [members, Object.values(def.shape ?? {}), lazy].flat(2);
    for (const one of inner) if (isZod(one)) parts.add(one);
    if (parts.size > mostParts) break;
  }
  return [...parts];
}
