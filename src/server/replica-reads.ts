/**
 * Which server answers a call, where there are standbys. The header `svc-position` goes both ways: a client says what it has
 * seen, and is told what it saw now. Without it nothing changes: the primary answers.
 * Next hop: `src/postgres/replicas.ts`.
 */
import type { Runtime } from "../call/invoke.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isTransient } from "../postgres/errors.ts";
import { type Replicas, readPosition, type Standby } from "../postgres/replicas.ts";

/** Said by a client that has not been told a position yet. */
const newcomer = "new";

export interface Answered {
  body: string;
  /** For the header of the answer. */
  position?: string | undefined;
}

/** A query, and how to run it. */
export interface Read {
  /** The header of the request. */
  said: string | undefined;
  /** Whose calls stay together. */
  user: string;
  /** Whether the query is one statement and no handler: then it may be run again. */
  generated: boolean;
  run(runtime: Runtime): Promise<string>;
}

/**
 * Answers a query by a standby that has what the client has seen, or by the primary. A handler runs once: the primary takes
 * over for it where its first statement fails on the standby (`Fallback` in `src/postgres/transaction.ts`).
 *
 * @throws SvcError UNAVAILABLE where a standby failed a handler after its first answer, for the client to try again
 */
export async function readSomewhere(replicas: Replicas, runtime: Runtime, read: Read): Promise<Answered> {
  const { said, user, generated, run } = read;
  const position = readPosition(said);
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
  if (position === null && said !== newcomer) return { body };
  return { body, position: await positionOf(replicas) };
}

/** A recovery that went before is no conflict of the caller's: the next standby, or the primary, has none. */
function ofStandby(error: unknown, standby: Standby): unknown {
  if (!isTransient(error)) return error;
  standby.reads.failed++;
  return new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause: error });
}

/** Where the primary is, for the header. Undefined when it does not say: the answer is more important. */
export const positionOf = (replicas: Replicas): Promise<string | undefined> =>
  replicas.position().catch(() => undefined);

/**
 * What a recovery that went before, a connection that broke or a migration that has not arrived look like: the primary may
 * know better. It does not where a provider failed, which would be asked, and paid, twice.
 */
const standbysOwn: ReadonlySet<string> = new Set(["INTERNAL", "UNAVAILABLE", "TIMEOUT", "CONFLICT"]);

const isStandbysOwn = (error: unknown): boolean => error instanceof SvcError && standbysOwn.has(error.code);
