// If this file fails, webhooks declared as in docs/how-to/webhooks.md are not sent, go to the wrong people, or contain what
// the receiver may not see.
import { readFile, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createTestApp, type TestApp } from "@svc/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadApp } from "../../src/app/load-app.ts";
import { codegen } from "../../src/codegen/codegen.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { readSecrets, signatureHeaders } from "../../src/webhooks/signature.ts";
import { svcHere } from "../support/cli.ts";
import { testServer } from "../support/test-server.ts";
import { documented } from "./documented.ts";

const { db, folder, lint } = documented("docs/how-to/webhooks.md");
// biome-ignore lint/suspicious/noExplicitAny: the page's own references, written while the test runs
type Any = any;
let api: Any;
let app: TestApp<Any>;
let receiver: Server;
const got: { path: string; headers: IncomingHttpHeaders; text: string }[] = [];
const secret = `whsec_${Buffer.alloc(32, "s").toString("base64")}`;

beforeAll(async () => {
  testServer(db);
  receiver = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    got.push({ path: request.url ?? "", headers: request.headers, text });
    response.end();
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  api = (await import(`${folder}/web/svc/api.ts`)).api;
  const env = { BILLING_HOOK: at("/billing"), BILLING_HOOK_SECRET: secret };
  app = await createTestApp({ api, cwd: folder, log: "silent", env });
});
afterAll(async () => {
  await app?.close();
  receiver?.closeAllConnections();
  receiver?.close();
});

const at = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;

test("an invoice that is paid is told to billing, and a ticket to its owner's endpoints alone", async () => {
  const ann: Any = await app.asUser();
  const bob: Any = await app.asUser();
  const mine = await ann.mutate(api.endpoints.create, { url: at("/ann"), secret: "mine" });
  await bob.mutate(api.endpoints.create, { url: at("/bob") });
  expect(readSecrets(mine.secret)[0]).toHaveLength(32);
  await ann.mutate(api.endpoints.update, { id: mine.id, secret: "mine" });

  const { id } = await ann.mutate(api.tickets.create, { title: "1", note: "hidden" });
  await ann.mutate(api.tickets.update, { id, title: "2" });
  await ann.mutate(api.tickets.update, { id, note: "hidden, too" });
  await ann.mutate(api.tickets.remove, { id });
  await app.sql("insert into invoices (user_id, amount, status) values ($1, 12.50, 'open')", [ann.user.id]);
  await app.sql("update invoices set status = 'paid'");
  await app.flushJobs();

  const bodies = (path: string) => got.filter((one) => one.path === path).map(({ text }) => JSON.parse(text));
  expect(bodies("/ann").map(({ type, operation, data }) => [type, operation, data.title])).toEqual([
    ["ticket-changed", "insert", "1"],
    ["ticket-changed", "update", "2"],
    ["ticket-changed", "delete", "2"],
  ]);
  expect(bodies("/bob")).toEqual([]);
  expect(bodies("/billing")).toMatchObject([
    { type: "invoice-paid", data: { id: expect.any(String), amount: "12.50" } },
  ]);
  for (const { path, headers, text } of got) {
    expect(text).not.toContain("hidden");
    const keys = readSecrets(path === "/billing" ? secret : mine.secret);
    const seconds = Number(headers["webhook-timestamp"]);
    expect(headers).toMatchObject(signatureHeaders(keys, String(headers["webhook-id"]), seconds, text));
  }
});

test("owners read the secret and do not choose it", async () => {
  const ann: Any = await app.asUser();
  const { id, secret: given } = await ann.mutate(api.endpoints.create, { url: at("/d") });
  await ann.mutate(api.endpoints.update, { id, secret: "mine", url: at("/e") });
  expect(await ann.query(api.endpoints.get, { id })).toMatchObject({ secret: given, url: at("/e") });
});

test("svc doctor names the variables that are missing", async () => {
  const { text } = await svcHere(db, folder, ["doctor"]);
  expect(text).toMatch(/advice +The webhook "invoice-paid" needs a receiver, but BILLING_HOOK is not set\.\n/);
  expect(text).toMatch(/but BILLING_HOOK_SECRET is not set\.\n +Set the URL and the secret/);
});

test("the database has what its files say, and a migration leaves the triggers alone", async () => {
  expect(await svcHere(db, folder, ["db", "drift", "--json"])).toMatchObject({ code: 0, out: "[]\n" });
  expect(JSON.parse((await svcHere(db, folder, ["migrate", "generate", "--json"])).out)).toEqual({ wrote: [] });
});

test("svc codegen empties sql/webhooks.sql when the last webhook goes", async () => {
  const config = await loadConfig({ cwd: folder, env: {} });
  const app = await loadApp(config);
  const file = join(folder, "sql/webhooks.sql");
  expect(await readFile(file, "utf8")).toContain('"name":"invoice-paid"');
  const without = { ...app, api: { "~svc": { ...app.api["~svc"], webhooks: [] } } };
  expect(await codegen(config, without)).toEqual(["wrote sql/webhooks.sql"]);
  expect(await readFile(file, "utf8")).toContain("install_webhooks('[]'::jsonb)");
  await rm(file);
  expect(await codegen(config, without)).toEqual([]);
  expect(await codegen(config, app)).toEqual(["wrote sql/webhooks.sql"]);
});

test("the linter has nothing against it", async () => expect(await lint()).toEqual([]));
