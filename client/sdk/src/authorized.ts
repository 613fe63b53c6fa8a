/** `authorized`: a request as the signed-in user, for all that need one. Next hop: `auth/strategy.ts`. */
import type { AuthState } from "./auth/state.ts";
import type { Credentials, Strategy } from "./auth/strategy.ts";
import { SvcError } from "./error.ts";

/** An `AuthClient`, or its parts. */
interface Auth {
  getState(): AuthState;
  readonly "~svc": Pick<Strategy, "credentials" | "refused">;
}

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
export function sameCaller(auth: Pick<Auth, "getState"> | undefined): () => void {
  const user = () => auth?.getState().user?.id;
  const caller = user();
  return () => {
    const now = user();
    if (caller && now && now !== caller) throw userChanged();
  };
}

export const userChanged = () => new SvcError("UNAUTHORIZED", "Somebody else has signed in meanwhile.");
