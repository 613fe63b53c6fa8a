/** The running instance of better-auth, as the rest of `src/auth` uses it. `library.ts` makes it. */
import type { BetterAuthOptions, betterAuth } from "better-auth";

export type Instance = ReturnType<typeof betterAuth<BetterAuthOptions>>;

export interface Library {
  api: Instance["api"];
  context: Awaited<Instance["$context"]>;
  /** Its HTTP router, of which `src/auth/routes/plugins.ts` lets through what plugins bring along. Throws what is no answer. */
  handle: (request: Request) => Promise<Response>;
  /** What the internal adapter writes meanwhile is written together or not at all; its after-hooks run when it is. */
  transaction<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Header in which the client's address is handed to the library. Made by us, so no client can set it. */
export const addressHeader = "x-svc-client-address";
