// If this file fails, a stolen signing key still signs users in after an operator has retired it, until each process restarts.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const db = database();
let signing: AuthServer;
/** A process that signs nothing: it only verifies tokens. */
let verifying: AuthServer;
beforeAll(async () => {
  signing = await startAuthServer(db);
});
afterAll(() => signing.close());
beforeEach(async () => {
  await db.sql("update auth.jwks set expires_at = null");
  verifying = await startAuthServer(db);
  return () => verifying.close();
});

const retire = () => db.sql("update auth.jwks set expires_at = now() - interval '1 second'");
let people = 0;
const somebody = async () => (await signing.signUp({ ...ann, email: `somebody${++people}@example.com` })).body;

test.for([
  ["retired", retire],
  ["removed", () => db.sql("delete from auth.jwks")],
] as const)("a token under a key that was %s is refused a minute later", async ([, end]) => {
  const [seen, unseen] = [await somebody(), await somebody()];
  expect(await verifying.caller(seen.token)).toMatchObject({ user: seen.user });
  const keys = await db.sql("select * from auth.jwks");
  await end();
  vi.useFakeTimers({ toFake: ["performance"], now: 0 });
  vi.advanceTimersByTime(1_000_000_000);
  try {
    expect(await verifying.caller(unseen.token)).toBeNull();
  } finally {
    vi.useRealTimers();
    await db.sql("delete from auth.jwks");
    await db.sql("insert into auth.jwks select * from jsonb_populate_recordset(null::auth.jwks, $1)", [
      JSON.stringify(keys),
    ]);
  }
});

test("a token that was remembered is looked at again after five minutes, however long it claims to live", async () => {
  const { sessionToken } = await somebody();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 4 * 60_000 });
  const { token } = (await signing.post("/token", undefined, { bearer: sessionToken })).body;
  vi.useRealTimers();
  const isRemembered = async () => {
    await verifying.caller(token);
    return !(verifying.auth.authenticate({ authorization: `Bearer ${token}` }) instanceof Promise);
  };
  await expect.poll(isRemembered).toBe(true);
  await retire();
  await expect.poll(async () => (await verifying.get("/jwks")).body.keys).toEqual([]);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 6 * 60_000 });
  try {
    expect(await verifying.caller(token)).toBeNull();
  } finally {
    vi.useRealTimers();
  }
});
