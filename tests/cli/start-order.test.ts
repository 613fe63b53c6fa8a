// If this file fails, `svc start` loads what it does not need before it is ready, or does not end when it is stopped meanwhile.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copiedApplication, ready } from "../support/application-folder.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { secret } from "../support/service.ts";

const db = database();
const app = copiedApplication(db, "tests/fixture");

/** Runs code when the process begins to load the queue library, for NODE_OPTIONS. */
const whenQueueLoads = (code: string) =>
  `--import=data:text/javascript,${encodeURIComponent(`
    import { writeSync } from "node:fs";
    import { registerHooks } from "node:module";
    registerHooks({
      load(url, context, next) {
        if (url.endsWith("/workers/runner.ts")) { ${code} }
        return next(url, context);
      },
    });`)}`;

const announce = 'writeSync(1, "The queue library loads.\\n");';

test("a developer's service is ready before the queue library is loaded, and then runs jobs", async () => {
  const env = { PORT: "0", NODE_OPTIONS: whenQueueLoads(announce) };
  const start = app.svc(["start", "--with-worker"], env);
  await ready(start);
  await expect.poll(() => start.output()).toMatch(/Ready: .*The queue library loads\./s);
  await expect
    .poll(() => db.sql("select count(*)::int as locks from pg_stat_activity where application_name like 'svc pool-%'"))
    .toEqual([{ locks: 1 }]);
});

test("in production it is loaded before anything is answered", async () => {
  const env = { PORT: "0", NODE_ENV: "production", AUTHLIB_SECRET: secret, NODE_OPTIONS: whenQueueLoads(announce) };
  const start = app.svc(["start", "--with-worker"], env);
  await ready(start);
  expect(start.output()).toMatch(/The queue library loads\..*Ready: /s);
});

test("a service that is stopped while it loads the queue library ends in order", async () => {
  const stopping = whenQueueLoads('process.kill(process.pid, "SIGTERM");');
  const { code, text } = await app.svc(["start", "--with-worker"], { PORT: "0", NODE_OPTIONS: stopping }).ended;
  expect(text).toContain("Ready: ");
  expect(text).toContain("SIGTERM: finishing requests in flight");
  expect(code).toBe(0);
});

test("neither the server nor the worker loads Node's HTTP client, and the server loads nothing that is used later", () => {
  const later =
    /\/(express|better-auth|prom-client|graphile-worker|@orpc|ws|pg-logical-replication|@fastify\/busboy|rag\/judge)[/.]/;
  const code = `
    import { registerHooks } from "node:module";
    const early = [];
    const hooks = registerHooks({
      load(url, context, next) {
        if (${later}.test(url)) early.push(url);
        return next(url, context);
      },
    });
    await import(${JSON.stringify(join(root, "src/cli/start.ts"))});
    hooks.deregister();
    await import(${JSON.stringify(join(root, "workers/runner.ts"))});
    early.push(...process.moduleLoadList.filter((name) => name.includes("undici")));
    console.log(early.join());
    process.exit();`;
  const loaded = execFileSync(process.execPath, ["--input-type=module", "--eval", code], { encoding: "utf8" });
  expect(loaded.trim()).toBe("");
});
