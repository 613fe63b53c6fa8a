// If this file fails, a handler gets the wrong user or an anonymous caller as a user, or a valid credential is refused.
import { beforeAll, describe, expect, test } from "vitest";
import { createSvcHttpRouteBuilders, SvcError } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";

const httpRoute = createSvcHttpRouteBuilders();
const verbs = ["get", "post", "put", "delete", "patch"] as const;
const procedures = {
  session: procedure.query
    .name("access.session")
    .handler(({ context }) => ({ required: context.auth.requireAuth(), got: context.auth.getSession() })),
  stranger: procedure.query
    .name("access.stranger")
    .allowAnonymous()
    .handler(({ context }) => {
      try {
        return { got: context.auth.getSession(), required: context.auth.requireAuth() };
      } catch (error) {
        return { got: context.auth.getSession(), status: error instanceof SvcError && error.status };
      }
    }),
  write: procedure.mutation.name("access.write").handler(({ context }) => context.auth.requireAuth().user.id),
};
const httpRoutes = Object.fromEntries(
  verbs.map((verb) => [
    verb,
    // It requires no session itself, so that a 401 is the route's own.
    httpRoute[verb]
      .path("/access")
      .handler(({ context }) => ({ body: context.auth.getSession()?.user.id ?? "nobody" })),
  ]),
);

const db = database();
const svc = service(db, apiWith({ procedures, httpRoutes }));
let ann: User;
beforeAll(async () => {
  ann = await svc.signUp("ann");
  await svc.signUp("bob");
});

describe("a handler", () => {
  test("reads the caller's id, email and name from the session", async () => {
    const user = { id: ann.id, email: ann.email, name: "ann" };
    const { body } = await svc.query(ann, "access.session");
    expect(body.json).toEqual({
      required: { id: expect.any(String), user },
      got: { id: body.json.required.id, user },
    });
  });

  test("gets null from getSession() and a 401 from requireAuth() when nobody is signed in", async () => {
    expect((await svc.query(null, "access.stranger")).body.json).toEqual({ got: null, status: 401 });
    expect((await svc.query(ann, "access.stranger")).body.json.got.user.id).toBe(ann.id);
  });
});

test.for(["token", "sessionToken"] as const)(
  "the %s of a sign-up is accepted on every protected call",
  async (kind) => {
    const user = { ...ann, token: ann[kind] }; // what the support code sends as Bearer
    const headers = { authorization: `Bearer ${ann[kind]}` };
    expect((await svc.query(user, "access.session")).body.json.got.user.id).toBe(ann.id);
    expect((await svc.mutate(user, "access.write")).body.json).toBe(ann.id);
    expect((await svc.query(user, "notes.list")).status).toBe(200);
    for (const verb of verbs) {
      const answer = await svc.fetch("/access", { method: verb.toUpperCase(), headers });
      expect(answer).toMatchObject({ status: 200, body: ann.id });
    }
  },
);

test.for(verbs)("a %s route without valid credentials answers 401", async (verb) => {
  for (const authorization of ["", "Bearer ", "Bearer nonsense", `Bearer ${ann.token}x`, "Basic YTpi"]) {
    const answer = await svc.fetch("/access", { method: verb.toUpperCase(), headers: { authorization } });
    expect(answer).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
  }
});
