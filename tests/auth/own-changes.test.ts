// If this file fails, users who have changed their own account are answered as if they had not.
import { createAuthEndpoint, sessionMiddleware } from "better-auth/api";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Revocations } from "../../src/auth/sessions/revocations.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const rename = createAuthEndpoint("/own/rename", { method: "POST", use: [sessionMiddleware] }, async (request) => {
  const { internalAdapter, session } = request.context;
  await internalAdapter.updateUser(session.user.id, { name: "Anna" });
  return request.json({});
});

const db = database();
let server: AuthServer;
beforeAll(async () => {
  const plugins = [{ id: "own", endpoints: { rename } }];
  server = await startAuthServer(db, {
    definition: defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins }) }),
  });
});
afterAll(() => server.close());

test.for(["an endpoint of a plugin", "a handler"])(
  "a change by %s is seen by the next call, also before PostgreSQL's notice",
  async (way) => {
    const { sessionToken } = (await server.signUp({ ...ann, email: `${crypto.randomUUID()}@example.com` })).body;
    const caller = () => server.auth.authenticate({ authorization: `Bearer ${sessionToken}` });
    const session = await caller();
    if (!session) throw new Error("The session was not found.");
    expect(session.user.name).toBe("Ann");
    const unheard = vi.spyOn(Revocations.prototype, "hear").mockImplementation(() => {});
    try {
      if (way === "a handler") await (await server.auth.forHandlers()).updateUser(session, { name: "Anna" });
      else await server.post("/own/rename", {}, { bearer: sessionToken });
      expect((await caller())?.user.name).toBe("Anna");
    } finally {
      unheard.mockRestore();
    }
  },
);
