// If this file fails, a key of docs/how-to/integrations.md does more than it should, outlives its end, or does not work at all.
import { createTestApp, type TestApp } from "@svc/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testServer } from "../support/test-server.ts";
import { documented } from "./documented.ts";

const { db, folder, lint } = documented("docs/how-to/integrations.md");
// biome-ignore lint/suspicious/noExplicitAny: the page's own references, written while the test runs
type Any = any;
let api: Any;
let app: TestApp<Any>;
let ann: Any;
let ticket: Any;

beforeAll(async () => {
  testServer(db);
  api = (await import(`${folder}/web/svc/api.ts`)).api;
  app = await createTestApp({ api, cwd: folder, log: "silent" });
  ann = await app.asUser({ emailVerified: true });
  const bob: Any = await app.asUser({ emailVerified: true });
  ticket = await ann.mutate(api.tickets.create, { title: "Ann's" });
  await bob.mutate(api.tickets.create, { title: "Bob's" });
});
afterAll(() => app?.close());

async function post(path: string, body: object, token = "") {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(app.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Any };
}
const make = (scope: string, by = ann) => by.mutate(api.integrations.create, { name: "CI", scope, days: 30 });
const signIn = ({ email, password }: Any) => post("/api/auth/sign-in", { email, password });
const titles = async (token: string) =>
  (await post("/api/query", { name: "tickets.list" }, token)).body.json?.data.map((row: Any) => row.title);
const rename = (token: string, title: string) =>
  post("/api/mutation", { name: "tickets.update", args: { id: ticket.id, title } }, token);

test("a plain HTTP client reads, and writes only with that scope, for its own user alone", async () => {
  const [reader, writer] = [await make("read"), await make("write")];
  const { sessionToken, token } = (await signIn(reader)).body;
  expect([await titles(sessionToken), await titles(token)]).toEqual([["Ann's"], ["Ann's"]]);
  expect((await rename(token, "taken")).status).toBe(404);
  const strong = (await signIn(writer)).body.token;
  expect((await rename(strong, "by CI")).status).toBe(200);
  expect((await post("/api/mutation", { name: "tickets.remove", args: { id: ticket.id } }, strong)).status).toBe(404);
  await rename(strong, "Ann's");
  const stolen = await post("/api/mutation", { name: "integrations.revoke", args: { id: reader.id } }, strong);
  expect(stolen.status).toBe(404);
  const own = (await post("/api/query", { name: "integrations.list" }, strong)).body.json.data;
  expect(own).toEqual([]);
  expect(JSON.stringify(await ann.query(api.integrations.list))).not.toContain(reader.password);
});

test("it ends at its time, when it is revoked, and with the user that it serves", async () => {
  const [late, revoked] = [await make("read"), await make("read")];
  const tokens = [(await signIn(late)).body.token, (await signIn(revoked)).body.token];
  await app.sql("update integrations set expires_at = now() where id = $1", [late.id]);
  expect(await titles(tokens[0])).toEqual([]);
  await ann.mutate(api.integrations.revoke, { id: revoked.id });
  await expect.poll(async () => (await post("/api/query", { name: "tickets.list" }, tokens[1])).status).toBe(401);
  expect((await signIn(revoked)).status).toBe(401);

  const cho: Any = await app.asUser({ emailVerified: true });
  await cho.mutate(api.tickets.create, { title: "Cho's" });
  const { token } = (await signIn(await make("write", cho))).body;
  expect(await titles(token)).toEqual(["Cho's"]);
  await app.sql('delete from auth."user" where id = $1', [cho.user.id]);
  expect(await titles(token)).toEqual([]);
});

test("a user has 20", async () => {
  const dan: Any = await app.asUser({ emailVerified: true });
  for (let n = 0; n < 20; n++) await make("read", dan);
  await expect(make("read", dan)).rejects.toMatchObject({ code: "CONFLICT" });
});

test("the linter has nothing against it", async () => expect(await lint()).toEqual([]));
