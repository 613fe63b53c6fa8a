/**
 * Runs anonymous queries again for those who watch them: without a session, or as the user of one.
 * Next hop: `src/call/invoke.ts`.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { SessionOfUser } from "../auth/sessions/find-user.ts";
import type { Runtime } from "../call/invoke.ts";
import type { CrudDefinition } from "../contract/crud.ts";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import { decodeCall } from "../http/wire.ts";
import type { Session } from "../kit/session.ts";
import type { Rerun } from "../realtime/refreshes.ts";
import { split } from "../realtime/subscription-topics.ts";
import { sees } from "../realtime/transaction-ids.ts";
import { answer } from "./procedures.ts";

export const isPublicQuery = (procedure: ProcedureDefinition | undefined): procedure is ProcedureDefinition =>
  procedure?.kind === "query" && procedure.anonymous;

/** In milliseconds, before each try. A change is told before it is visible: a moment, or until the answer of a synchronous standby. */
const pauses = [0, 5, 20, 100, 400];

/**
 * Null if it is not an anonymous query, if its user is gone, or if it fails or lacks the transaction. A user is read anew: fields
 * may have changed.
 */
export function publicRerun(
  runtime: Runtime,
  procedures: ReadonlyMap<string, ProcedureDefinition>,
  sessionOf: SessionOfUser,
): Rerun {
  // A run for all visitors together is no call of any of them.
  const rerunning: Runtime = {
    ...runtime,
    async rateLimit(caller, limited, limit) {
      if (caller.session || limit?.by !== undefined) await runtime.rateLimit(caller, limited, limit);
    },
  };
  return async (key, watching, xid) => {
    const { name, args } = split(key);
    const procedure = procedures.get(name);
    if (!isPublicQuery(procedure)) return null;
    const requestId = randomUUID();
    try {
      const session = watching && (await renewed(watching, sessionOf));
      if (watching && !session) return null;
      const call = decodeCall({ name, args: args === null ? undefined : JSON.parse(args) });
      for (const pause of pauses) {
        if (pause > 0) await sleep(pause, undefined, { ref: false });
        let snapshot: string | null = null;
        const body = await answer(rerunning, procedure, call.args, { session, requestId }, (seen) => {
          snapshot = seen.snapshot;
        });
        if (snapshot === null || sees(snapshot, xid)) return body;
      }
      return null; // its watchers ask until they see the change
    } catch (err) {
      runtime.log.warn({ err, operation: name, requestId }, "a query could not be run again for its subscribers");
      return null;
    }
  };
}

/** A session whose user is read anew. A key sees what its scopes open, and policies may ask for a visit. */
async function renewed({ user, id, key, visit }: Session, sessionOf: SessionOfUser): Promise<Session | null> {
  const found = await sessionOf(user.id, id);
  return found && { ...found, ...(key && { key }), ...(visit && { visit }) };
}

/** A list that is watched only with a grant and whose rows have no owner: each of its subscribers was authorized. */
export const isGrantedList = (name: string, resources: readonly CrudDefinition[]): boolean =>
  resources.some(
    ({ prefix, realtime, owners }) => name === `${prefix}.list` && owners.length === 0 && realtime?.scoped,
  );
