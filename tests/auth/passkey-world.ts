/** Two processes of a service with passkeys, and people who sign up at it. */
import type { BetterAuthPlugin } from "better-auth";
import { afterAll, beforeAll } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";

/** Of a client without cookies. */
export const withTokens = { headers: { "svc-session": "token", origin } };

/** Call it at the top of a file. */
export function passkeyWorld(plugins: BetterAuthPlugin[]) {
  const definition = defineAuth({
    passkeys: true,
    betterAuth: (defaults) => ({ ...defaults, rateLimit: { enabled: false }, plugins }),
  });
  const db = database();
  const servers = {} as { server: AuthServer; there: AuthServer };
  beforeAll(async () => {
    await migrateAuth(db, definition);
    servers.server = await startAuthServer(db, { definition });
    servers.there = await startAuthServer(db, { definition });
  });
  afterAll(() => Promise.all([servers.server.close(), servers.there.close()]));

  let people = 0;
  const person = async () => {
    const { user, sessionToken } = (await servers.server.signUp({ ...ann, email: `user-${++people}@example.com` }))
      .body;
    return { id: user.id as string, bearer: sessionToken as string };
  };
  return { db, servers, person };
}
