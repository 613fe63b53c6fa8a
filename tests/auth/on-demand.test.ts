// If this file fails, every start loads libraries that its callers do not need, or nobody can use them after one that did not.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { secret } from "../support/service.ts";

const db = database();
const folder = mkdtempSync(join(tmpdir(), "svc-on-demand-"));
const loaded = join(folder, "loaded");
let child: ChildProcess;
let url: string;

/** Writes the names of the packages that the process loads. */
const recording = `
  import { appendFileSync } from "node:fs";
  import { registerHooks } from "node:module";
  registerHooks({
    load(url, context, next) {
      const [, name] = /node_modules\\/(kysely|jose|express|prom-client|better-auth\\/dist\\/api)\\//.exec(url) ?? [];
      if (name) appendFileSync(${JSON.stringify(loaded)}, name + "\\n");
      return next(url, context);
    },
  });`;

beforeAll(async () => {
  writeFileSync(loaded, "");
  child = fork(
    join(import.meta.dirname, "../support/service-child.ts"),
    [JSON.stringify(db.urls), join(folder, "storage"), secret],
    { execArgv: ["--import", `data:text/javascript,${encodeURIComponent(recording)}`] },
  );
  [url] = await once(child, "message");
});
afterAll(() => {
  child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const packages = () => new Set(readFileSync(loaded, "utf8").split("\n").filter(Boolean));

test("callers are identified without Express and better-auth, and without jose until there is a JWT", async () => {
  const call = (headers: HeadersInit) =>
    fetch(`${url}/api/query`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ json: { name: "nothing" } }),
    });
  expect((await call({})).status).toBe(404);
  expect(packages()).toEqual(new Set());
  expect((await call({ authorization: "Bearer a.b.c" })).status).toBe(404);
  expect(packages()).toEqual(new Set(["jose"]));
});

test("the first path without a procedure loads Express, however many requests come at once", async () => {
  const statuses = ["/healthz", "/healthz", "/nothing"].map(async (path) => (await fetch(url + path)).status);
  const allowed = await fetch(`${url}/healthz`, { method: "OPTIONS" });
  expect(await Promise.all(statuses)).toEqual([200, 200, 404]);
  expect([allowed.status, allowed.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
  expect(packages()).toEqual(new Set(["jose", "express"]));
});

test("the first reading of metrics loads their library, and tells what was counted before", async () => {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toMatch(/^svc_http_errors_total\{code="NOT_FOUND"\} 3$/m);
  expect(metrics).toMatch(/^svc_http_errors_total\{code="CONFLICT"\} 0$/m);
  expect(metrics).toMatch(/^svc_http_request_duration_seconds_count\{.*"\/healthz".*\} 2$/m);
  expect(packages()).toEqual(new Set(["jose", "express", "prom-client"]));
});

test("the first sign-in loads better-auth, however many come at once", async () => {
  const answers = await Promise.all(
    ["ann", "bob", "cat"].map((name) =>
      fetch(`${url}/api/auth/sign-up`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name, email: `${name}@example.com`, password: "correct horse" }),
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(packages()).toEqual(new Set(["jose", "express", "prom-client", "kysely", "better-auth/dist/api"]));
});
