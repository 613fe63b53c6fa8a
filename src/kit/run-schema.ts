/**
 * Runs a Standard Schema. Zod tries its own without promises first and begins again at the first promise, or error: a check of the
 * author's that asks a database would ask twice, and nobody would await the first answer. So a schema of zod that runs code of
 * its author is run as an asynchronous one from the beginning. Others keep zod's compiled fast way, which such schemas lack.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";

type Result = StandardSchemaV1.Result<unknown>;

/** What is read of a schema or check of zod 4, also of its mini variant. */
interface ZodPart {
  _zod: { def: Record<string, unknown> & { type?: string; check?: string } };
  safeParseAsync?(value: unknown): Promise<{ data?: unknown; error?: { issues: readonly StandardSchemaV1.Issue[] } }>;
}

const withCode = new WeakMap<object, boolean>();

/** The result, or a promise of it. */
export function runSchema(schema: StandardSchemaV1, value: unknown): Result | Promise<Result> {
  if (!isZod(schema) || !schema.safeParseAsync) return schema["~standard"].validate(value);
  const runsCode = withCode.get(schema) ?? findsCode(schema, new Set());
  withCode.set(schema, runsCode);
  if (!runsCode) return schema["~standard"].validate(value);
  return schema.safeParseAsync(value).then(({ data, error }) => (error ? { issues: error.issues } : { value: data }));
}

const isZod = <T>(value: T): value is T & ZodPart => typeof value === "object" && value !== null && "_zod" in value;

/** Whether a function of the author runs when the schema does, also within others. @param seen schemas may contain themselves */
function findsCode(part: ZodPart, seen: Set<unknown>): boolean {
  if (seen.has(part)) return false;
  seen.add(part);
  const { def } = part._zod;
  const isCode = ["transform", "custom", "promise"].includes(def.type ?? "") || def.check === "custom";
  if (isCode || typeof def.transform === "function") return true;
  const inner = def.type === "lazy" ? [(def.getter as () => unknown)()] : Object.values(def);
  const parts = inner.flatMap((one) => (isZod(one) || Array.isArray(one) ? one : []));
  return [...parts, ...Object.values(def.shape ?? {})].some((one) => isZod(one) && findsCode(one, seen));
}
