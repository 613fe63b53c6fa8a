/**
 * Which server answers a call, where there are standbys. The header `svc-position` goes both ways: a client says what it has
 * seen, and is told what it saw now. Without it nothing changes: the primary answers.
 * Next hop: `src/postgres/replicas.ts`.
 */
import type { Runtime } from "../context/invoke.ts";
import { SvcError } from "../errors/svc-error.ts";
import { type Replicas, readPosition } from "../postgres/replicas.ts";

/** Said by a client that has not been told a position yet. */
const newcomer = "new";

export interface Answered {
  body: string;
  /** For the header of the answer. */
  position?: string | undefined;
}

/**
 * Answers a query by a standby that has what the client has seen, or by the primary.
 *
 * @param said   the header of the request
 * @param user   whose calls stay together
 * @param answer runs the call; a second time, on the primary, when a standby could not
 */
export async function readSomewhere(
  replicas: Replicas,
  runtime: Runtime,
  said: string | undefined,
  user: string,
  answer: (runtime: Runtime) => Promise<string>,
): Promise<Answered> {
  const position = readPosition(said);
  const standby = position === null ? null : replicas.choose(position, user);
  if (standby) {
    try {
      const body = await answer({ ...runtime, requestPool: standby.pool });
      standby.reads.answered++;
      return { body };
    } catch (error) {
      if (!isStandbysOwn(error)) throw error;
      standby.reads.failed++;
    }
  }
  const body = await answer(runtime);
  if (position === null && said !== newcomer) return { body };
  return { body, position: await positionOf(replicas) };
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
