// If this file fails, a shop that was built as docs/how-to/staff-and-customers.md says sells what is not there, or shows
// orders to strangers.
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../src/define/load-config.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { loadApp } from "../../src/service/load-app.ts";
import { createLog } from "../../src/service/log.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { secret } from "../support/service.ts";
import { snippets } from "./markdown.ts";

const db = database("template1");
// Inside the project, where @svc/core resolves.
const folder = join(root, ".svc", `staff-${process.pid}`);
let service: Service;

beforeAll(async () => {
  for (const { place, file, text } of await snippets()) {
    if (!file || !place.startsWith("docs/how-to/staff-and-customers.md")) continue;
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  const svc = (...words: string[]) =>
    promisify(execFile)(process.execPath, [join(root, "src/cli/svc.ts"), ...words, "--cwd", folder]);
  await svc("codegen");
  await svc("migrate", "generate");
  await migrate({ adminUrl: db.url("admin"), platform: root, application: folder });
  const config = { ...(await loadConfig({ cwd: folder, env: {} })), port: 0 };
  const app = await loadApp(config);
  service = await startService({ app, config, urls: db.urls, secrets: [secret], log: createLog("silent") });
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function post(path: string, body: object, token?: string) {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}
const person = async (name: string) => {
  const email = `${name}@example.com`;
  return (await post("/api/auth/sign-up", { email, password: "correct horse", name })).body;
};
const call = (kind: "query" | "mutation", token: string, name: string, args: object = {}) =>
  post(`/api/${kind}`, { name, args }, token);

test("staff keeps the products, customers buy what is there, and each sees what is theirs", async () => {
  const [ann, bob, cleo] = await Promise.all([person("ann"), person("bob"), person("cleo")]);
  const admin = await db.connect("admin");
  await admin.query("insert into public.staff values ($1)", [ann.user.id]);

  const refused = await call("mutation", bob.token, "products.create", { name: "Tea", stock: 3 });
  expect(refused.status).toBe(403);
  const { body } = await call("mutation", ann.token, "products.create", { name: "Tea", stock: 3 });
  const tea = body.json.id;
  expect((await call("mutation", bob.token, "products.update", { id: tea, stock: 9 })).status).toBe(404);

  const buyers = [bob, cleo, bob, cleo, bob, cleo, bob];
  const placed = await Promise.all(
    buyers.map(({ token }) => call("mutation", token, "orders.place", { productId: tea, quantity: 1 })),
  );
  expect(placed.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409, 409, 409]);
  expect((await call("query", bob.token, "products.get", { id: tea })).body.json.stock).toBe(0);

  const totals = await Promise.all(
    [ann, bob, cleo].map(async ({ token }) => (await call("query", token, "orders.list")).body.json.total),
  );
  expect(totals[0]).toBe(3);
  expect(totals[1] + totals[2]).toBe(3);
  // A quantity below zero would fill the stock.
  expect((await call("mutation", bob.token, "orders.place", { productId: tea, quantity: -5 })).status).toBe(409);
});

test("the linter has nothing against it", async () => {
  const admin = await db.connect("admin");
  const { rows } = await admin.query(
    "select rule, name from svc_private.lint_schema() where severity <> 'info' and name not like '%svc.%'",
  );
  expect(rows).toEqual([]);
});
