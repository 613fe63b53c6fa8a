/** Type of the running better-auth instance. `library.ts` creates it. */
import type { BetterAuthOptions, betterAuth } from "better-auth";

type Instance = ReturnType<typeof betterAuth<BetterAuthOptions>>;

export interface Library {
  api: Instance["api"];
  context: Awaited<Instance["$context"]>;
  /** Its HTTP router; `src/auth/routes/plugins.ts` passes only plugin endpoints. Throws when it gets no valid response. */
  handle: (request: Request) => Promise<Response>;
  /** Runs the internal adapter's writes in one transaction. After-hooks run once it commits. */
  transaction<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Header that passes the client's address to the library. We always set it, so clients cannot. */
export const addressHeader = "x-svc-client-address";
