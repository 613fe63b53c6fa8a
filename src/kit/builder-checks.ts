/**
 * Checks the arguments of procedure and route builders at definition time. Otherwise each call would fail, or a
 * guarding middleware would be missing.
 * Next hop: `src/contract/procedure.ts` and `src/contract/http-route.ts` call these.
 */
import { DefinitionError } from "./definition-error.ts";
import { isSchema, kindOf } from "./v.ts";

/** @param step such as `The procedure "tasks.add": .input()` @throws DefinitionError */
export function requireSchema(step: string, value: unknown): void {
  if (isSchema(value)) return;
  throw new DefinitionError(`${step} takes a Standard Schema, and got ${kindOf(value)}.`, {
    hint: "Write v.object({ … }), or a schema of zod, valibot or arktype.",
  });
}

/** @param step likewise @throws DefinitionError */
export function requireFunction(step: string, value: unknown): void {
  if (typeof value === "function") return;
  throw new DefinitionError(`${step} takes a function, and got ${kindOf(value)}.`, {
    hint: "Look for a circular import: a value imported in a circle is undefined here.",
  });
}
