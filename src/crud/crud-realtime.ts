/**
 * The option `realtime` of `createCrud`: its types, and the checks of the option and of its functions' results.
 * Next hop: `src/realtime/buckets.ts` puts lists and rows into buckets with it.
 */
import type { PgTable } from "drizzle-orm/pg-core";
import type { RealtimeDefinition } from "../contract/crud.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import type { RealtimeOption, ScopedRealtime } from "./crud-types.ts";
import { wireForms } from "./wire-kinds.ts";

const scopedKeys = new Set(["policy", "resourceIdentity", "scope", "scopeFromRow", "authorize"]);

/**
 * @returns null when subscribers are not notified
 * @throws DefinitionError with the remedy
 */
export function describeRealtime(
  table: string,
  option: RealtimeOption<PgTable> | undefined,
  hasList: boolean,
): RealtimeDefinition | null {
  if (option === false) return null;
  if (option === undefined) return { list: true, scoped: null };
  const isObject = typeof option === "object" && option !== null;
  const keys = isObject ? Object.keys(option) : [];
  if (isObject && keys.some((key) => scopedKeys.has(key))) {
    checkScoped(table, option as ScopedRealtime, keys, hasList);
    return { list: true, scoped: option as ScopedRealtime };
  }
  const { listRealtime = true } = Object(option) as { listRealtime?: unknown };
  if (!isObject || keys.some((key) => key !== "listRealtime") || typeof listRealtime !== "boolean") {
    throw new DefinitionError(
      `createCrud: realtime of "${table}" is neither false, nor { listRealtime: false }, nor a scoped config.`,
      { hint: "Write one of them; a scoped config is { policy, resourceIdentity, scope, scopeFromRow, authorize }." },
    );
  }
  return { list: listRealtime, scoped: null };
}

function checkScoped(table: string, option: ScopedRealtime, keys: string[], hasList: boolean): void {
  const fail = (problem: string, hint: string): never => {
    throw new DefinitionError(`createCrud: realtime of "${table}" ${problem}`, { hint });
  };
  const unknown = keys.find((key) => !scopedKeys.has(key));
  if (unknown) fail(`has no "${unknown}".`, `A scoped config has ${[...scopedKeys].join(", ")}.`);
  if (option.policy !== "authorized" && option.policy !== "public") {
    fail(`has the policy ${JSON.stringify(option.policy)}.`, 'Give "authorized" or "public".');
  }
  if (typeof option.resourceIdentity !== "string" || option.resourceIdentity === "") {
    fail("has no resourceIdentity.", `Name what its buckets are of, such as "${table}".`);
  }
  for (const name of ["scope", "scopeFromRow"] as const) {
    if (typeof option[name] !== "function") {
      fail(`has no function ${name}.`, "Write both: scope(args) of a list, scopeFromRow({ row, ctx }) of a row.");
    }
    if (option[name].constructor.name === "AsyncFunction") {
      fail(`has an async ${name}.`, "Make it return the object itself: it is called for every change.");
    }
  }
  if (option.policy === "authorized" && typeof option.authorize !== "function") {
    fail(
      "has no authorize.",
      'Write authorize({ ctx, args }), or policy: "public" to let every caller of the list watch.',
    );
  }
  if (!hasList)
    fail("is for lists, but methods has no list.", 'Add "list" to methods, or leave the scoped config out.');
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
  return JSON.stringify(scope, (_key, value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
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
