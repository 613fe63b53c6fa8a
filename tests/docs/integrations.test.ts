// If this file fails, a key of docs/how-to/integrations.md does more than the page says, outlives its end, or does not work.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createSvcClient } from "@svc/client";
import { createTestApp, type TestApp } from "@svc/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testServer } from "../support/test-server.ts";
import { documented } from "./documented.ts";
import { snippets } from "./markdown.ts";

const page = "docs/how-to/integrations.md";
const { db, folder, lint } = documented(page);
// biome-ignore lint/suspicious/noExplicitAny: the page's own references, written while the test runs
type Any = any;
let api: Any;
let app: TestApp<Any>;
let ann: Any;

beforeAll(async () => {
  testServer(db);
  api = (await import(`${folder}/web/svc/api.ts`)).api;
  app = await createTestApp({ api, cwd: folder, log: "silent" });
  ann = await app.asUser();
  await ann.mutate(api.tickets.create, { title: "Ann's" });
  await ann.mutate(api.diaries.create, { entry: "secret" });
});
afterAll(() => app?.close());

async function call(path: string, body: object, token: string) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const response = await fetch(app.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Any };
}
const make = (...scopes: string[]) => ann.auth.call("/api-keys", { name: "CI", scopes, expiresInDays: 90 });
const query = (key: string, name: string) => call("/api/query", { name }, key);

test("a plain HTTP client reads and writes as the key's scopes say", async () => {
  const [reader, writer] = [(await make("tickets:read")).key, (await make("tickets:write")).key];
  for (const key of [reader, writer]) {
    expect((await query(key, "tickets.list")).body.json.data).toMatchObject([{ title: "Ann's" }]);
    expect((await query(key, "diaries.list")).body.json.data).toEqual([]);
  }
  expect((await query(reader, "stats.count")).body.json).toEqual({ tickets: 1 });
  expect((await query(writer, "stats.count")).status).toBe(403);
  const create = (key: string) => call("/api/mutation", { name: "tickets.create", args: { title: "by CI" } }, key);
  expect([(await create(reader)).status, (await create(writer)).status]).toEqual([403, 200]);
});

test("the client of TypeScript calls and watches with a key", async () => {
  const { key } = await make("tickets:read");
  const program = createSvcClient({ api, baseUrl: app.url, apiKey: key });
  const shown: Any[] = [];
  program.watch(api.tickets.list, {}, ({ data }: Any) => shown.push(...data));
  await expect.poll(() => shown).toContainEqual(expect.objectContaining({ title: "Ann's" }));
  await expect(program.mutate(api.tickets.create, { title: "no" })).rejects.toMatchObject({ code: "FORBIDDEN" });
  program.close();
});

test("a key with the scope of reports adds them, and reads none", async () => {
  const [{ key }, other] = [await make("reports:create"), await make("tickets:write")];
  const report = (it: string) => call("/api/mutation", { name: "reports.report", args: { text: "It broke" } }, it);
  const { status, body } = await report(key);
  expect([status, (await report(other.key)).status]).toEqual([200, 403]);
  expect((await ann.query(api.reports.get, { id: body.json.id })).text).toBe("It broke");
  expect((await query(key, "reports.list")).body.json.data).toEqual([]);
  for (const [name, args] of [
    ["create", { text: "x" }],
    ["update", { id: body.json.id, text: "x" }],
    ["remove", { id: body.json.id }],
  ]) {
    expect((await call("/api/mutation", { name: `reports.${name}`, args }, key)).status).toBe(
      name === "create" ? 403 : 404,
    );
  }
});

test("a key ends when it is revoked", async () => {
  const { id, key } = await make("tickets:read");
  expect((await query(key, "tickets.list")).status).toBe(200);
  const { apiKeys } = await ann.auth.call("/api-keys", {}, { method: "GET" });
  expect(apiKeys[0].id).toBe(id);
  await ann.auth.call(`/api-keys/${id}`, {}, { method: "DELETE" });
  await expect.poll(async () => (await query(key, "tickets.list")).status).toBe(401);
});

test("the migration has the policies that the page shows", async () => {
  const [file = ""] = (await readdir(join(folder, "migrations"))).filter((name) => name.endsWith(".sql"));
  const plain = (sql: string) => sql.replaceAll(/["\s]+/g, " ");
  const migration = plain(await readFile(join(folder, "migrations", file), "utf8"));
  const shown = (await snippets()).find(
    ({ place, text }) => place.startsWith(`${page}:`) && text.includes("create policy"),
  );
  for (const statement of shown?.text.trim().split(";\n") ?? [""])
    expect(migration).toContain(plain(statement).replace(/;? ?$/, ""));
});

test("the linter has nothing against it", async () => expect(await lint()).toEqual([]));
