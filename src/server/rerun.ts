/**
 * Runs anonymous queries without a session: their results may be sent to every subscriber.
 * Next hop: `src/call/invoke.ts`.
 */
import { randomUUID } from "node:crypto";
import type { Runtime } from "../call/invoke.ts";
import type { CrudDefinition } from "../contract/crud.ts";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import { decodeCall } from "../http/wire.ts";
import type { Rerun } from "../realtime/subscription-registry.ts";
import { split } from "../realtime/subscription-topics.ts";
import { answer } from "./procedures.ts";

export const isPublicQuery = (procedure: ProcedureDefinition | undefined): procedure is ProcedureDefinition =>
  procedure?.kind === "query" && procedure.anonymous;

/** Runs the query of a key; null if it is not an anonymous query, or if it fails. */
export function publicRerun(runtime: Runtime, procedures: ReadonlyMap<string, ProcedureDefinition>): Rerun {
  return async (key) => {
    const { name, args } = split(key);
    const procedure = procedures.get(name);
    if (!isPublicQuery(procedure)) return null;
    const requestId = randomUUID();
    try {
      const call = decodeCall({ name, args: args === null ? undefined : JSON.parse(args) });
      return await answer(runtime, procedure, call.args, { session: null, requestId });
    } catch (err) {
      runtime.log.warn({ err, operation: name, requestId }, "a query could not be run again for its subscribers");
      return null;
    }
  };
}

/** A list that is watched only with a grant and whose rows have no owner: each of its subscribers was authorized. */
export const isGrantedList = (name: string, resources: readonly CrudDefinition[]): boolean =>
  resources.some(({ prefix, realtime, owner }) => name === `${prefix}.list` && !owner && realtime?.scoped);
