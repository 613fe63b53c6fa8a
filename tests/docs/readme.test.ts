// If this file fails, someone who follows the README's five minutes ends in an error.
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
import { type Snippet, snippets } from "./markdown.ts";

const db = database("template1");
// Inside the project, where @svc/core resolves.
const folder = join(root, ".svc", `readme-${process.pid}`);
let readme: Snippet[];
let service: Service;

beforeAll(async () => {
  readme = (await snippets()).filter(({ place }) => place.startsWith("README.md"));
  for (const { file, text } of readme) {
    if (!file) continue;
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  await promisify(execFile)(process.execPath, [join(root, "src/cli/svc.ts"), "codegen", "--cwd", folder]);
  await migrate({ adminUrl: db.url("admin"), platform: root, application: folder });

  const config = { ...(await loadConfig({ cwd: folder, env: {} })), port: 0 };
  const app = await loadApp(config);
  service = await startService({ app, config, urls: db.urls, secrets: [secret], log: createLog("silent") });
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("the README names the files of a whole application", () => {
  expect(readme.flatMap(({ file }) => file ?? [])).toEqual([
    "backend/schema.ts",
    "backend/index.ts",
    "migrations/0001_create_tasks.sql",
  ]);
});

test("its requests get the answers that it prints", async () => {
  const block = readme.find(({ text }) => text.includes("curl"))?.text ?? "";
  const calls = [...block.matchAll(/curl -s localhost:4000(\S+)[\s\S]*?-d '(.*)'\n# (.*)/g)];
  expect(calls).toHaveLength(2);

  let token = "";
  for (const [, path, body, printed] of calls) {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(`${service.url}${path}`, { method: "POST", headers, body: body ?? "" });
    const answer = (await response.json()) as { token?: string };
    expect(shape(answer)).toEqual(shape(JSON.parse(printed ?? "")));
    token = answer.token ?? token;
  }
});

test("its error is what a missing title gives", async () => {
  const printed = JSON.parse(readme.find(({ language }) => language === "json")?.text ?? "");
  const email = "bob@example.com";
  const signUp = await fetch(`${service.url}/api/auth/sign-up`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password: "correct horse", name: "Bob" }),
  });
  const { token } = (await signUp.json()) as { token: string };
  const response = await fetch(`${service.url}/api/mutation`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ name: "tasks.create", args: {} }),
  });
  expect({ ...((await response.json()) as object), requestId: "…" }).toEqual(printed);
});

test("its own procedure counts one's own rows and nobody else's", async () => {
  const response = await fetch(`${service.url}/api/query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "tasks.openCount" }),
  });
  expect(response.status).toBe(401);
});

/** Names and types: ids and times differ from run to run. */
function shape(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shape(inner)]));
}
