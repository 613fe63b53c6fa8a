/**
 * The option `realtime` of `createCrud`: its types, and the checks of the option and of its functions' results.
 * Next hop: `src/realtime/buckets.ts` puts lists and rows into buckets with it.
 */
import type { PgTable } from "drizzle-orm/pg-core";
import { z } from "zod";
import type { RealtimeDefinition } from "../contract/crud.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { boolean, callable, checkOptions, must, oneOf, type ShapeOf } from "../kit/options.ts";
import { sortMembers } from "../kit/rich-values.ts";
import type { RealtimeOption, ScopedRealtime } from "./crud-types.ts";
import { wireForms } from "./wire-kinds.ts";

/** Called for every change, so it must return the object itself. */
const synchronous = <T>() =>
  callable<T>().refine((run) => Object(run).constructor.name !== "AsyncFunction", must("a function that is not async"));

const identity = must("a text, such as the table's name");

const scopedSchema = z
  .strictObject({
    policy: oneOf(["authorized", "public"]),
    resourceIdentity: z.string(identity).min(1, identity),
    scope: synchronous<ScopedRealtime["scope"]>(),
    scopeFromRow: synchronous<ScopedRealtime["scopeFromRow"]>(),
    authorize: callable<ScopedRealtime["authorize"]>().optional(),
  } satisfies ShapeOf<ScopedRealtime>)
  .refine(({ policy, authorize }) => policy === "public" || authorize, {
    path: ["authorize"],
    error: 'is missing. Write authorize({ ctx, args }), or policy: "public" to let every caller of the list watch',
  });

const optionSchema = z
  .union(
    [z.literal(false), z.strictObject({ listRealtime: boolean().default(true) })],
    must("false, { listRealtime: false }, or { policy, resourceIdentity, scope, scopeFromRow, authorize }"),
  )
  .prefault({});

/**
 * @returns null when subscribers are not notified
 * @throws DefinitionError with the remedy
 */
export function describeRealtime(
  table: string,
  option: RealtimeOption<PgTable> | undefined,
  hasList: boolean,
): RealtimeDefinition | null {
  const where = `createCrud of "${table}": realtime`;
  if (!Object.keys(scopedSchema.shape).some((key) => key in Object(option))) {
    const plain = checkOptions(where, optionSchema, option);
    return plain ? { list: plain.listRealtime, scoped: null } : null;
  }
  checkOptions(where, scopedSchema, option);
  if (!hasList) {
    throw new DefinitionError(`${where} is for lists, but methods has no list.`, {
      hint: 'Add "list" to methods, or leave the scoped config out.',
    });
  }
  return { list: true, scoped: option as ScopedRealtime };
}

/**
 * The scope as JSON with sorted keys: equal scopes give equal text.
 *
 * @throws TypeError when it is not a plain object of JSON-serializable values
 */
export function scopeText(scope: unknown, source: string): string {
  if (!isScope(scope)) {
    throw new TypeError(`${source} returned ${describe(scope)}; it must be a plain object of JSON values.`);
  }
  return JSON.stringify(scope, sortMembers);
}

function isScope(scope: unknown): boolean {
  if (typeof scope !== "object" || scope === null || Array.isArray(scope)) return false;
  try {
    return wireForms.json.accept(scope, undefined) !== undefined;
  } catch {
    return false; // it contains itself
  }
}

/** Names the invalid member without its value, which may be personal data. */
function describe(scope: unknown): string {
  if (scope === null || typeof scope !== "object") return scope === null ? "null" : typeof scope;
  if (Array.isArray(scope)) return "an array";
  if (scope instanceof Promise) return "a promise";
  const wrong = Object.entries(scope).filter(
    ([, value]) => value === undefined || typeof value === "bigint" || value instanceof Date,
  );
  if (wrong.length === 0) return "an object with other values";
  return wrong.map(([key, value]) => `${key}: ${value instanceof Date ? "a Date" : typeof value}`).join(", ");
}
