// If this file fails, a handler signs somebody in past the limits, the hooks or the mails of the endpoints, or changes the
// account of somebody else.
import { beforeAll, describe, expect, test } from "vitest";
import { createSvcHttpRouteBuilders, isConflict, type SvcRequest, v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { Mailbox } from "../support/mailbox.ts";
import { apiWith, service } from "../support/service.ts";

const httpRoute = createSvcHttpRouteBuilders();
const mailbox = new Mailbox();
const definition = {
  ...mailbox.definition,
  schemes: ["Bearer", "Token"],
  user: { additionalFields: { motto: { type: "text" } } },
} as const;

const signUp = procedure.mutation
  .name("people.signUp")
  .allowAnonymous()
  .input(v.any())
  .handler(async ({ context, input }) => {
    const signedIn = await context.auth.signUp(input);
    return { ...signedIn, stillNobody: context.auth.getSession() === null, from: context.baseUrl };
  });
const signIn = procedure.mutation
  .name("people.signIn")
  .allowAnonymous()
  .input(v.any())
  .handler(({ context, input }) => context.auth.signIn(input));
const signOut = procedure.mutation.name("people.signOut").handler(({ context }) => context.auth.signOut());
const update = procedure.mutation
  .name("people.update")
  .input(v.any())
  .handler(({ context, input }) => context.auth.updateUser(input));
const changeEmail = procedure.mutation
  .name("people.changeEmail")
  .input(v.string())
  .handler(({ context, input }) => context.auth.changeEmail(input));
const setPassword = procedure.mutation
  .name("people.setPassword")
  .input(v.string())
  .handler(({ context, input }) => context.auth.setPassword(input));
const whoAmI = procedure.query.name("people.whoAmI").handler(({ context }) => context.auth.requireAuth().user);
const inQuery = procedure.query
  .name("people.inQuery")
  .allowAnonymous()
  .handler(({ context }) => context.auth.signIn({ email: "a@example.com", password: "correct horse" }));

let lastRequest: SvcRequest | undefined;
const route = httpRoute.post.path("/api/own-form").errors((error, request) => {
  lastRequest = request;
  if (error.code === "NOT_FOUND") return undefined;
  return {
    status: isConflict(error, "notes_pkey") ? 422 : error.status,
    body: { errors: { [error.code]: error.message } },
  };
});
const httpRoutes = {
  failing: route.input(v.object({ id: v.number() })).handler(async ({ context, input, request }) => {
    if (input.id === 0) throw new Error("unforeseen");
    if (input.id < 0) return { status: 204, headers: { "x-from": request.address } };
    const row = { id: input.id, title: "x", userId: context.auth.requireAuth().user.id };
    await context.db.insert(notes).values(row as never);
    return { status: 201, body: {} };
  }),
};
const procedures = { signUp, signIn, signOut, update, changeEmail, setPassword, whoAmI, inQuery };

const db = database();
beforeAll(() => db.sql(`alter table auth."user" add column motto text`));
const svc = service(
  db,
  apiWith({ procedures, httpRoutes }),
  { limits: { signInsPerAccount: 3, mailsPerAddress: 5 } } as object,
  undefined,
  definition,
);
const fresh = () => ({ email: `${crypto.randomUUID()}@example.com`, password: "correct horse", name: "Ann" });
const as = (token: string, scheme = "Bearer") => ({ authorization: `${scheme} ${token}` });
const call = (name: string, args: unknown, token: string, scheme?: string) => {
  const kind = name.endsWith("whoAmI") ? "query" : "mutation";
  const headers = { ...as(token, scheme), "content-type": "application/json" };
  return svc.fetch(`/api/${kind}`, { method: "POST", headers, body: JSON.stringify({ name, args }) });
};
const register = async () => {
  const person = fresh();
  const { body } = await svc.mutate(null, "people.signUp", person);
  return { ...person, ...body.json };
};

describe("signing up and in", () => {
  test("opens a session that the caller does not have yet, with the mail of a sign-up", async () => {
    const ann = await register();
    expect(ann).toMatchObject({ user: { email: ann.email, name: "Ann" }, stillNobody: true, from: svc.url });
    await mailbox.next("verification", ann.email);
    for (const token of [ann.token, ann.sessionToken]) {
      expect((await call("people.whoAmI", undefined, token)).body.json).toMatchObject({
        id: ann.user.id,
        email: ann.email,
      });
    }
    const again = await svc.mutate(null, "people.signIn", { email: ann.email, password: ann.password });
    expect(again.body.json.user).toEqual(ann.user);
  });

  test("refuses as the endpoints do, and counts the same attempts", async () => {
    const ann = await register();
    expect((await svc.mutate(null, "people.signUp", ann)).body).toMatchObject({ code: "EMAIL_TAKEN" });
    expect((await svc.mutate(null, "people.signUp", { ...fresh(), password: "short" })).body).toMatchObject({
      code: "VALIDATION_FAILED",
      issues: [{ path: ["password"] }],
    });
    const wrong = { email: ann.email, password: "wrong horse" };
    const codes: string[] = [];
    for (let n = 0; n < 2; n++) codes.push((await svc.mutate(null, "people.signIn", wrong)).body.code);
    codes.push((await svc.post("/api/auth/sign-in", wrong)).body.code);
    codes.push((await svc.mutate(null, "people.signIn", { ...wrong, password: ann.password })).body.code);
    expect(codes).toEqual(["INVALID_CREDENTIALS", "INVALID_CREDENTIALS", "INVALID_CREDENTIALS", "RATE_LIMITED"]);
  });

  test("is not for queries", async () => {
    expect((await svc.query(null, "people.inQuery")).body).toMatchObject({ code: "QUERY_WROTE" });
  });

  test("a session ends", async () => {
    const ann = await register();
    expect((await call("people.signOut", undefined, ann.sessionToken)).status).toBe(200);
    expect((await call("people.whoAmI", undefined, ann.sessionToken)).status).toBe(401);
  });
});

describe("changes of one's own account", () => {
  test("name, image and additional fields; others are refused", async () => {
    const [ann, bob] = [await register(), await register()];
    expect(
      (await call("people.update", { name: " Anna ", image: "https://x.example/a.png", motto: "Hi" }, ann.sessionToken))
        .status,
    ).toBe(200);
    const users = await db.sql(`select name, image, motto from auth."user" where id in ($1, $2) order by name`, [
      ann.user.id,
      bob.user.id,
    ]);
    expect(users).toEqual([
      { name: "Ann", image: null, motto: null },
      { name: "Anna", image: "https://x.example/a.png", motto: "Hi" },
    ]);
    for (const changes of [
      { email: "x@example.com" },
      { id: bob.user.id },
      { name: "" },
      { emailVerified: true },
      { motto: 7 },
    ]) {
      expect((await call("people.update", changes, ann.sessionToken)).body).toMatchObject({
        code: "VALIDATION_FAILED",
      });
    }
  });

  test("an address: refused if it is taken, else it must be verified anew", async () => {
    const [ann, bob] = [await register(), await register()];
    expect((await call("people.changeEmail", bob.email, ann.sessionToken)).body).toMatchObject({ code: "EMAIL_TAKEN" });
    const next = fresh().email;
    expect((await call("people.changeEmail", next.toUpperCase(), ann.sessionToken)).status).toBe(200);
    await mailbox.next("verification", next);
    expect((await call("people.whoAmI", undefined, ann.sessionToken)).body.json).toMatchObject({ email: next });
  });

  test("an address, also in a call with an idempotency key: it does not wait for itself", async () => {
    const ann = await register();
    const headers = { ...as(ann.sessionToken), "content-type": "application/json", "idempotency-key": "move" };
    const body = JSON.stringify({ name: "people.changeEmail", args: fresh().email });
    expect((await svc.fetch("/api/mutation", { method: "POST", headers, body })).status).toBe(200);
  });

  test("an address, only as often as mails may be asked for: nobody tries a list of addresses", async () => {
    const [ann, bob] = [await register(), await register()];
    await db.sql("delete from auth.attempt");
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push((await call("people.changeEmail", bob.email, ann.sessionToken)).status);
    expect(statuses).toEqual([409, 409, 409, 409, 409, 429]);
    expect((await call("people.changeEmail", fresh().email, ann.sessionToken)).status).toBe(429);
    expect((await call("people.whoAmI", undefined, ann.sessionToken)).body.json).toMatchObject({ email: ann.email });
    await db.sql("delete from auth.attempt");
  });

  test("a password: other sessions end, this one stays", async () => {
    const ann = await register();
    const other = (await svc.mutate(null, "people.signIn", { email: ann.email, password: ann.password })).body.json;
    expect((await call("people.setPassword", "short", ann.sessionToken)).body).toMatchObject({
      code: "VALIDATION_FAILED",
    });
    expect((await call("people.setPassword", "another horse", ann.sessionToken)).status).toBe(200);
    expect((await call("people.whoAmI", undefined, ann.sessionToken)).status).toBe(200);
    expect((await call("people.whoAmI", undefined, other.sessionToken)).status).toBe(401);
    const { status } = await svc.mutate(null, "people.signIn", { email: ann.email, password: "another horse" });
    expect(status).toBe(200);
  });
});

describe("schemes of Authorization", () => {
  test.for(["Bearer", "bearer", "Token", "TOKEN"])("%s carries a credential", async (scheme) => {
    const ann = await register();
    expect((await call("people.whoAmI", undefined, ann.sessionToken, scheme)).status).toBe(200);
  });

  test.for(["Basic", "Tokens", ""])("%s does not", async (scheme) => {
    const ann = await register();
    expect((await call("people.whoAmI", undefined, ann.sessionToken, scheme)).status).toBe(401);
  });
});

describe(".errors() of a route", () => {
  const send = async (token: string | undefined, body: unknown) =>
    svc.fetch("/api/own-form", {
      method: "POST",
      headers: { "content-type": "application/json", ...(token && as(token)) },
      body: JSON.stringify(body),
    });

  test("answers every error of the call in its own form", async () => {
    const ann = await register();
    const answers = [
      await send(undefined, { id: 1 }),
      await send(ann.sessionToken, { id: "1" }),
      await send(ann.sessionToken, { id: 0 }),
    ].map(({ status, body, headers }) => [status, Object.keys(body.errors), headers.get("www-authenticate")]);
    expect(answers).toEqual([
      [401, ["UNAUTHORIZED"], "Bearer"],
      [400, ["VALIDATION_FAILED"], null],
      [500, ["INTERNAL"], null],
    ]);
    expect(lastRequest?.path).toBe("/api/own-form");
    expect(svc.logged.some((line) => line.includes("unforeseen"))).toBe(true);
  });

  test("sees the constraint that refused, after all was rolled back", async () => {
    const ann = await register();
    expect((await send(ann.sessionToken, { id: 7 })).status).toBe(201);
    expect(await send(ann.sessionToken, { id: 7 })).toMatchObject({
      status: 422,
      body: { errors: { CONFLICT: expect.any(String) } },
    });
  });

  test("handlers see the client's address", async () => {
    const ann = await register();
    const { headers } = await send(ann.sessionToken, { id: -1 });
    expect(headers.get("x-from")).toMatch(/127\.0\.0\.1|::1/);
  });
});
