/**
 * Runs our own code in an endpoint context, which the library gives only to its own endpoints. Without one, hooks of
 * plugins do nothing: `admin` would let a banned user sign in with Google. Hooks get what is set here and nothing else.
 * Called by `create-sign-in.ts` for every request below /api/auth, by `handler-auth.ts` and by `user-admin.ts`.
 */
import { runWithEndpointContext } from "@better-auth/core/context";
import type { Library } from "./library-types.ts";

/** @param path below /api/auth. Our paths are those of the library, so hooks recognise them. */
export const inEndpoint = async <Result>(
  { context }: Pick<Library, "context">,
  path: string,
  headers: Headers,
  act: () => Result,
): Promise<Awaited<Result>> => await runWithEndpointContext({ context, path, headers }, act);
