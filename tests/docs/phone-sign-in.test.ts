// If this file fails, an application as in docs/how-to/phone-sign-in.md lets strangers into accounts, or sends texts at its cost.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { AuthClient } from "@svc/client";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { documented } from "./documented.ts";

const { db, call, url, folder, lint } = documented("docs/how-to/phone-sign-in.md");

/** Texts that the provider has taken, by number: the newest code. */
const codes = new Map<string, string>();
let sent = 0;
/** What the provider answers, and when. */
let status = 201;
let until: Promise<unknown> = Promise.resolve();
let provider: Server;

/** Speaks Twilio's Messages API. Source: https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource */
beforeAll(async () => {
  provider = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    const isOurs =
      request.method === "POST" &&
      request.url === "/2010-04-01/Accounts/AC1/Messages.json" &&
      request.headers.authorization === `Basic ${btoa("AC1:secret")}` &&
      form.get("From") === "+491700000000";
    sent++;
    await until;
    if (isOurs && status === 201) codes.set(form.get("To") ?? "", /\d{8}/.exec(form.get("Body") ?? "")?.[0] ?? "");
    response.writeHead(isOurs ? status : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(status === 201 ? { sid: "SM1", status: "queued" } : { code: 21211, status }));
  });
  await new Promise<void>((done) => provider.listen(0, "localhost", done));
  Object.assign(process.env, {
    TWILIO_URL: `http://localhost:${(provider.address() as AddressInfo).port}`,
    TWILIO_ACCOUNT_SID: "AC1",
    TWILIO_AUTH_TOKEN: "secret",
    TWILIO_FROM: "+491700000000",
  });
});
afterAll(() => provider?.close());
beforeEach(async () => {
  await db.sql("delete from auth.attempt");
  codes.clear();
  sent = 0;
});

let last = 0;
const newNumber = () => `+49151${String(++last).padStart(8, "0")}`;
const post = async (path: string, body: object, more: Record<string, string> = {}) => {
  const headers = { "content-type": "application/json", "svc-session": "token", ...more };
  const response = await fetch(`${url()}/api/auth${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json(), headers: response.headers };
};
const as = (token: string) => ({ authorization: `Bearer ${token}` });
const ask = (phoneNumber: string) => post("/phone-number/send-otp", { phoneNumber });
const codeFor = async (number: string) => {
  codes.delete(number);
  expect((await ask(number)).status).toBe(200);
  return vi.waitUntil(() => codes.get(number), { timeout: 20_000 });
};
const signIn = async (number: string) =>
  (await post("/phone-number/verify", { phoneNumber: number, code: await codeFor(number) })).body;
const me = async (token: string) => (await call("query", token, "people.me")).body.json;

test("the page signs in with a code, and the user is a user as all others", async () => {
  const send = globalThis.fetch;
  vi.stubGlobal("fetch", (address: string, ...rest: [RequestInit]) =>
    send(address.replace("http://localhost:4000", url()), ...rest),
  );
  try {
    const { auth, sendCode, signIn: enter } = await import(`${folder}/web/phone.ts`);
    const number = newNumber();
    await sendCode(number);
    await enter(number, await vi.waitUntil(() => codes.get(number)));
    expect((await (auth as AuthClient).restore())?.name).toBe("New user");
  } finally {
    vi.unstubAllGlobals();
  }
  const other = newNumber();
  const { token } = await signIn(other);
  expect(await me(token)).toMatchObject({ name: "New user", phoneNumber: other });
  expect((await call("mutation", token, "notes.create", { body: "mine" })).status).toBe(200);
  const [row] = await db.sql(`select email, email_verified, phone_number_verified from auth."user"`);
  expect(row).toMatchObject({ email_verified: false, phone_number_verified: true });
  expect(row?.email).toMatch(/@phone\.invalid$/);
  expect(await db.sql("select * from graphile_worker.jobs")).toEqual([]);
});

test("nobody waits for the provider, and its errors are not told", async () => {
  const known = newNumber();
  await signIn(known);
  const held = Promise.withResolvers<void>();
  until = held.promise;
  const [first, second] = [await ask(known), await ask(newNumber())];
  held.resolve();
  expect([first.status, first.body]).toEqual([second.status, second.body]);
  status = 400;
  expect((await ask(newNumber())).status).toBe(200);
  await expect.poll(() => sent).toBe(4);
  status = 201;
});

test("a code opens one session, also for two who come at the same moment", async () => {
  const number = newNumber();
  await signIn(number);
  for (let round = 0; round < 4; round++) {
    const code = await codeFor(number);
    const both = await Promise.all(
      Array.from({ length: 4 }, () => post("/phone-number/verify", { phoneNumber: number, code })),
    );
    expect(both.filter(({ status: got }) => got === 200)).toHaveLength(1);
  }
  expect(await db.sql(`select count(*)::integer as users from auth."user" where phone_number = $1`, [number])).toEqual([
    { users: 1 },
  ]);
});

test("texts are limited for a number and for a network, whatever the request says besides", async () => {
  const number = newNumber();
  const statuses = [];
  for (let n = 0; n < 6; n++) {
    statuses.push((await post("/phone-number/send-otp?code=1", { phoneNumber: number, code: "1" })).status);
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  for (const refused of ["+15550001111", "+49 151 1234567", "0049151123456", "+4915112345678900"]) {
    expect(await ask(refused)).toMatchObject({ status: 400, body: { hint: "INVALID_PHONE_NUMBER" } });
  }
  await expect.poll(() => sent).toBe(5);
  await db.sql("delete from auth.attempt");
  let taken = 0;
  while (taken < 40 && (await ask(newNumber())).status === 200) taken++;
  expect(taken).toBe(30);
});

test("guesses are limited: three for a code, and ten for a number", async () => {
  const number = newNumber();
  const guess = async () => (await post("/phone-number/verify", { phoneNumber: number, code: "00000000" })).status;
  await codeFor(number);
  expect([await guess(), await guess(), await guess(), await guess()]).toEqual([400, 400, 400, 403]);
  const statuses = [];
  for (let n = 0; n < 7; n++) statuses.push(await guess());
  expect(statuses).toEqual([...Array(6).fill(400), 429]);
});

test("another number needs the session and its code, and the old one opens the account no longer", async () => {
  const [old, next] = [newNumber(), newNumber()];
  const { sessionToken, user } = await signIn(old);
  const change = (code: string, who: Record<string, string>) =>
    post("/phone-number/verify", { phoneNumber: next, code, updatePhoneNumber: true }, who);
  expect((await change(await codeFor(next), {})).status).toBe(401);
  expect((await change(await codeFor(old), as(sessionToken))).status).toBe(400);
  const left = await codeFor(old); // asked for before the change
  expect((await change(await codeFor(next), as(sessionToken))).status).toBe(200);
  expect(await me(sessionToken)).toMatchObject({ id: user.id, phoneNumber: next });
  const stranger = await post("/phone-number/verify", { phoneNumber: old, code: left });
  expect(stranger.status).toBe(200);
  expect(stranger.body.user.id).not.toBe(user.id);
  expect((await signIn(next)).user.id).toBe(user.id);
});

test("a number has one account", async () => {
  const [one, two, wanted] = [await signIn(newNumber()), await signIn(newNumber()), newNumber()];
  const change = (code: string, token: string) =>
    post("/phone-number/verify", { phoneNumber: wanted, code, updatePhoneNumber: true }, as(token));
  const first = await codeFor(wanted);
  const both = await Promise.all([change(first, one.sessionToken), change(first, two.sessionToken)]);
  expect(both.map(({ status: got }) => got).sort()).toEqual([200, 400]);
  const loser = both[0]?.status === 200 ? two : one;
  expect(await change(await codeFor(wanted), loser.sessionToken)).toMatchObject({
    status: 400,
    body: { hint: "PHONE_NUMBER_EXIST" },
  });
});

test("a body makes no other user than the number's", async () => {
  const number = newNumber();
  const victim = await signIn(newNumber());
  const claims = {
    id: victim.user.id,
    userId: victim.user.id,
    email: "ceo@example.com",
    emailVerified: true,
    name: "Administrator",
    createdAt: "2000-01-01T00:00:00Z",
    role: "admin",
  };
  const answer = await post("/phone-number/verify", { phoneNumber: number, code: await codeFor(number), ...claims });
  expect(answer.status).toBe(200);
  expect(answer.body.user.id).not.toBe(victim.user.id);
  const [row] = await db.sql(`select name, email, email_verified from auth."user" where phone_number = $1`, [number]);
  expect(row).toMatchObject({
    name: "New user",
    email: expect.stringMatching(/@phone\.invalid$/),
    email_verified: false,
  });
  const forged = await post("/phone-number/verify", {
    phoneNumber: newNumber(),
    code: "1",
    phoneNumberVerified: true,
  });
  expect(forged.status).toBe(400);
});

test("a foreign page signs nobody in, and no session is kept from before", async () => {
  const number = newNumber();
  const code = await codeFor(number);
  const foreign = await post("/phone-number/verify", { phoneNumber: number, code }, { origin: "https://evil.example" });
  expect(foreign.status).toBe(403);
  const planted = (await signIn(newNumber())).sessionToken;
  const cookie = `authlib.session_token=${encodeURIComponent(planted)}`;
  const answer = await fetch(`${url()}/api/auth/phone-number/verify`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url(), cookie },
    body: JSON.stringify({ phoneNumber: number, code }),
  });
  expect(answer.status).toBe(200);
  const [set = ""] = answer.headers.getSetCookie();
  expect(set).toMatch(/^authlib\.session_token=.+HttpOnly/);
  expect(decodeURIComponent(set)).not.toContain(planted);
  expect(JSON.stringify(await answer.json())).not.toContain(set.slice(22, 40));
});

test("there are no passwords", async () => {
  const { user } = await signIn(newNumber());
  for (const [path, body] of [
    ["/sign-up", { email: "a@example.com", password: "correct horse", name: "A" }],
    ["/sign-in/phone-number", { phoneNumber: user.phoneNumber, password: "correct horse" }],
    ["/phone-number/request-password-reset", { phoneNumber: user.phoneNumber }],
    ["/phone-number/reset-password", { phoneNumber: user.phoneNumber, otp: "1", newPassword: "correct horse" }],
  ] as const) {
    expect((await post(path, body)).status, path).toBe(403);
  }
});

test("the linter finds nothing", async () => {
  expect(await lint()).toEqual([]);
});
