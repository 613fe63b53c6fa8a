/**
 * Chooses the server that answers a call, if there are standbys. The header `svc-position` goes both ways: a client
 * sends the position that it has seen, and receives a new one. Without the header, the primary answers.
 * Next hop: `src/postgres/replicas.ts`.
 */
import type { Runtime } from "../call/invoke.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isTransient } from "../postgres/errors.ts";
import { type Replicas, readPosition, type Standby } from "../postgres/replicas.ts";

/** The value from a client that has no position yet. */
const withoutPosition = "new";

export interface Answered {
  body: string;
  /** For the answer's header. */
  position?: string | undefined;
}

/** A query, and how to run it. */
export interface Read {
  /** The request's header. */
  positionHeader: string | undefined;
  /** Calls of one user go to the same standby. */
  user: string;
  /** Whether the query is one statement without a handler. Then it may be run again. */
  generated: boolean;
  run(runtime: Runtime): Promise<string>;
}

/**
 * Answers a query from a standby that has the client's position, or from the primary. A handler runs once: if its first
 * statement fails on the standby, the primary continues (`Fallback` in `src/postgres/transaction.ts`).
 *
 * @throws SvcError UNAVAILABLE if a standby failed a handler after its first answer; the client may try again
 */
export async function readSomewhere(replicas: Replicas, runtime: Runtime, read: Read): Promise<Answered> {
  const { positionHeader, user, generated, run } = read;
  const position = readPosition(positionHeader);
  const standby = position === null ? null : replicas.choose(position, user);
  if (standby) {
    let failed = false;
    const fallback = { pool: runtime.requestPool, helps: isStandbysOwn, moved: () => (failed = true) };
    try {
      const body = await run({ ...runtime, requestPool: standby.pool, ...(!generated && { fallback }) });
      if (!failed) {
        standby.reads.answered++;
        return { body };
      }
      standby.reads.failed++;
      return { body, position: await positionOf(replicas) };
    } catch (error) {
      if (!generated) throw failed ? error : ofStandby(error, standby);
      if (!isStandbysOwn(error)) throw error;
      standby.reads.failed++;
    }
  }
  const body = await run(runtime);
  if (position === null && positionHeader !== withoutPosition) return { body };
  return { body, position: await positionOf(replicas) };
}

/** A recovery conflict on the standby is not the caller's error: the next standby, or the primary, does not have it. */
function ofStandby(error: unknown, standby: Standby): unknown {
  if (!isTransient(error)) return error;
  standby.reads.failed++;
  return new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause: error });
}

/** The primary's current position, for the header. Undefined if it is not available: the answer does not wait for it. */
export const positionOf = (replicas: Replicas): Promise<string | undefined> =>
  replicas.position().catch(() => undefined);

/**
 * The errors of a recovery conflict, a broken connection or a migration that has not arrived: the primary may succeed.
 * Not for a failed provider: it would be called, and paid, twice.
 */
const standbysOwn: ReadonlySet<string> = new Set(["INTERNAL", "UNAVAILABLE", "TIMEOUT", "CONFLICT"]);

const isStandbysOwn = (error: unknown): boolean => error instanceof SvcError && standbysOwn.has(error.code);
