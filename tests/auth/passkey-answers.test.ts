// If this file fails, a page with a mistake learns nothing from the answer, or a user has more passkeys than the limit.
import { admin } from "better-auth/plugins";
import { beforeAll, expect, test } from "vitest";
import { type AuthServer, origin } from "../support/auth-server.ts";
import { Authenticator } from "../support/authenticator.ts";
import { passkeyWorld, withTokens } from "./passkey-world.ts";

const world = passkeyWorld([admin()]);
const { db, person } = world;
let server: AuthServer;
let there: AuthServer;
beforeAll(() => {
  ({ server, there } = world.servers);
});

const of = (id: string) => db.sql("select from auth.passkey where user_id = $1", [id]);

/** An answer to fresh options, and the call that sends it. */
async function prepared(bearer: string, device = new Authenticator(origin)) {
  const { challenge, svcChallenge } = (await server.get("/passkey/generate-register-options", { bearer })).body;
  const response = device.register(challenge) as Record<string, unknown> & { response: Record<string, unknown> };
  const send = (given: unknown = response, at = server, more: object = {}) =>
    at.post("/passkey/verify-registration", { response: given, svcChallenge, ...more }, { bearer });
  return { response, send };
}

test.for<[string, (answer: Record<string, unknown> & { response: object }) => unknown, RegExp]>([
  ["nothing", () => null, /\[body\.response\] must be the answer of navigator\.credentials/],
  ["a text", () => "x", /\[body\.response\] must be the answer/],
  ["no id", ({ id: _, ...rest }) => rest, /\[body\.response\.id\] must be a base64url text/],
  ["another id", (one) => ({ ...one, id: "AAAA" }), /does not fit the last options|base64url/],
  ["an id that is a list", (one) => ({ ...one, rawId: ["x"] }), /\[body\.response\.rawId\] must be a base64url text/],
  ["another type", (one) => ({ ...one, type: "password" }), /\[body\.response\.type\] must be "public-key"/],
  ["no answer inside", (one) => ({ ...one, response: null }), /\[body\.response\.response\] must be an object/],
  [
    "a broken attestation",
    (one) => ({ ...one, response: { ...one.response, attestationObject: "AAAA" } }),
    /does not fit the last options/,
  ],
  [
    "client data that are no JSON",
    (one) => ({ ...one, response: { ...one.response, clientDataJSON: "AAAA" } }),
    /does not fit the last options/,
  ],
  [
    "transports that are no list",
    (one) => ({ ...one, response: { ...one.response, transports: "usb" } }),
    /\[body\.response\.response\.transports\] must be a list of texts/,
  ],
])("a new passkey with %s is answered with 400 and what is wrong", async ([, change, says]) => {
  const one = await person();
  const { response, send } = await prepared(one.bearer);
  server.log.length = 0;
  const { status, body } = await send(change(response));
  expect([status, body.error]).toEqual([400, expect.stringMatching(says)]);
  expect(server.log.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  expect(await of(one.id)).toHaveLength(0);
});

test("an answer to the options of another page's ceremony is refused with what to do", async () => {
  const one = await person();
  const [first, second] = [await prepared(one.bearer), await prepared(one.bearer)];
  const { status, body } = await second.send(first.response);
  expect([status, body.error]).toEqual([400, expect.stringContaining("Ask for new options")]);
});

test("an error of the database while a passkey is stored stays an error of the service", async () => {
  const one = await person();
  const { send } = await prepared(one.bearer);
  await db.sql("alter table auth.passkey rename to passkey_away");
  const { status } = await send().finally(() => db.sql("alter table auth.passkey_away rename to passkey"));
  expect(status).toBe(500);
});

test.for([
  ["an error of the database", "raise exception 'no room'"],
  ["a lost connection", "perform pg_terminate_backend(pg_backend_pid())"],
])("%s while a passkey signs in stays an error of the service", async ([, fault]) => {
  const device = new Authenticator(origin);
  expect((await (await prepared((await person()).bearer, device)).send()).status).toBe(200);
  const enter = async () => {
    const { challenge, svcChallenge } = (await server.get("/passkey/generate-authenticate-options", withTokens)).body;
    return server.post(
      "/passkey/verify-authentication",
      { response: device.signIn(challenge), svcChallenge },
      withTokens,
    );
  };
  await db.sql(`create function public.fail() returns trigger language plpgsql security definer as $$ begin ${fault}; return new; end $$;
    create trigger fail before update on auth.passkey for each row execute function public.fail()`);
  server.log.length = 0;
  const { status } = await enter().finally(() => db.sql("drop function public.fail cascade"));
  expect(status).toBe(500);
  expect(server.log.filter((line) => JSON.parse(line).level >= 50).join()).toContain("Failed to verify authentication");
  expect((await enter()).status).toBe(200);
});

test.for([null, "x", {}, { id: ["x"] }])(
  "a sign-in with the answer %j is refused with what is wrong",
  async (given) => {
    const { svcChallenge } = (await server.get("/passkey/generate-authenticate-options", withTokens)).body;
    const body = { response: given, svcChallenge };
    const answer = await server.post("/passkey/verify-authentication", body, withTokens);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining("[body.response")]);
  },
);

test("those who register at the same moment, in two processes, do not pass twenty together", async () => {
  const one = await person();
  for (let count = 0; count < 19; count++) expect((await (await prepared(one.bearer)).send()).status).toBe(200);
  const ready = await Promise.all([1, 2, 3, 4].map(() => prepared(one.bearer)));
  const answers = await Promise.all(
    ready.map(({ send, response }, at) => send(response, at % 2 ? there : server, { createSession: at > 1 })),
  );
  expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
  expect((await of(one.id)).length).toBeLessThanOrEqual(20);
  const refused = answers.filter(({ status }) => status === 409);
  expect(refused.length).toBeGreaterThanOrEqual(3);
  expect(await of(one.id)).toHaveLength(19 + answers.length - refused.length);
});

test("an administrator changes an existing user's fields by their types, and no user's id", async () => {
  const [boss, one] = [await person(), await person()];
  await db.sql(`update auth."user" set role = 'admin' where id = $1`, [boss.id]);
  const update = async (userId: string, data: object) => {
    const { status, body } = await server.post("/admin/update-user", { userId, data }, boss);
    return [status, body.error];
  };
  expect(await update("nobody", { name: "x" })).toEqual([404, expect.stringMatching(/not found/i)]);
  expect(await update("x".repeat(9_000), { name: "x" })).toEqual([404, expect.stringMatching(/not found/i)]);
  expect(await update(one.id, { id: "another" })).toEqual([400, "[body.data.id] cannot be changed"]);
  expect(await update(one.id, { emailVerified: "yes" })).toEqual([
    400,
    "[body.data.emailVerified] must be true or false",
  ]);
  expect(await update(one.id, { name: null })).toEqual([400, "[body.data.name] must have a value"]);
  expect(await update(one.id, { banExpires: "tomorrow" })).toEqual([
    400,
    expect.stringContaining("such as 2030-01-31"),
  ]);
  expect(await update(one.id, { name: "New", banExpires: "2030-01-31T12:00:00Z" })).toEqual([200, undefined]);
  expect(await db.sql(`select name from auth."user" where id = $1`, [one.id])).toEqual([{ name: "New" }]);
  for (const banExpiresIn of [1e308, -1e308, 9e15]) {
    const { status, body } = await server.post("/admin/ban-user", { userId: one.id, banExpiresIn }, boss);
    expect([status, body.error]).toEqual([
      400,
      "[body.banExpiresIn] must be a number of seconds that ends before the year 10000",
    ]);
  }
  expect((await server.post("/admin/ban-user", { userId: one.id, banExpiresIn: 60 }, boss)).status).toBe(200);
});
