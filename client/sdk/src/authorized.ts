/** `authorized`: a request as the signed-in user, for all that need one. Next hop: `auth/strategy.ts`. */
import type { AuthState } from "./auth/state.ts";
import type { Credentials, Strategy } from "./auth/strategy.ts";
import { SvcError } from "./error.ts";

interface Caller {
  getState(): AuthState;
}

/** An `AuthClient`, or its parts. */
interface Auth extends Caller {
  readonly "~svc": Pick<Strategy, "credentials" | "refused">;
}

const userOf = (auth: Caller | undefined) => auth?.getState().user?.id;

/**
 * Runs with credentials, and once more with fresh ones if they were refused.
 *
 * @throws SvcError UNAUTHORIZED, and runs nothing, if another user signs in while the credentials are fetched
 */
export async function authorized<T>(
  auth: Auth | undefined,
  signal: AbortSignal,
  run: (credentials: Credentials) => Promise<T>,
): Promise<T> {
  const requireCaller = sameCaller(auth);
  const credentials = async () => {
    const given = (await auth?.["~svc"].credentials(signal)) ?? {};
    requireCaller();
    return given;
  };
  const given = await credentials();
  try {
    return await run(given);
  } catch (error) {
    // A wrong password is 401 too.
    const isRefused = error instanceof SvcError && error.code === "UNAUTHORIZED";
    if (!isRefused || !auth?.["~svc"].refused(given)) throw error;
    return run(await credentials());
  }
}

/** @returns a check that throws once another user has signed in */
export function sameCaller(auth: Caller | undefined): () => void {
  const caller = userOf(auth);
  return () => {
    const now = userOf(auth);
    if (caller && now && now !== caller) throw userChanged();
  };
}

/** Calls back when another user has signed in, or the user has signed out. @returns a function that ends it */
export function onOtherUser(
  auth: (Caller & { subscribe(listener: () => void): () => void }) | undefined,
  changed: () => void,
): (() => void) | undefined {
  let user = userOf(auth);
  return auth?.subscribe(() => {
    const before = user;
    user = userOf(auth);
    if (user !== before) changed();
  });
}

export const userChanged = () => new SvcError("UNAUTHORIZED", "Somebody else has signed in meanwhile.");
