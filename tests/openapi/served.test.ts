// If this file fails, /openapi.json describes missing paths or omits existing ones; or a client generated from it does
// not compile, or does not reach the service.
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type IRoute, Router } from "express";
import { beforeAll, describe, expect, test } from "vitest";
import type { OpenApiDocument } from "../../src/openapi/document.ts";
import { openApiPage } from "../../src/openapi/page.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { service, TestService } from "../support/service.ts";
import { api, relatedSql } from "./application.ts";

const run = promisify(execFile);
const { JSDOM } = createRequire(import.meta.url)("jsdom"); // it brings no types

/** Every route that Express gets, and the paths below which routers are mounted. */
const routed: { router: unknown; route: IRoute }[] = [];
const bases = new Map<unknown, string>();
const { route, use } = Router.prototype;
Router.prototype.route = function (this: Router, path: string) {
  const made = route.call(this, path);
  routed.push({ router: this, route: made });
  return made;
};
Router.prototype.use = function (this: Router, ...given: [string, unknown]) {
  if (typeof given[0] === "string" && given[0] !== "/") bases.set(given[1], given[0]);
  return use.apply(this, given as never);
};

const db = database();
beforeAll(() => db.sql(relatedSql));
const svc = service(db, api);
let document: OpenApiDocument;
beforeAll(async () => {
  document = (await svc.fetch("/openapi.json")).body;
  await svc.fetch("/api/auth/get-session"); // Express gets the routes of authentication with the first request to one
});

const verbs = ["get", "head", "post", "put", "patch", "delete", "options"];
const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    verbs.filter((verb) => verb in item).map((verb) => `${verb} ${path}`),
  );

const mounted = () =>
  routed.flatMap(({ router, route }) => {
    const path = `${bases.get(router) ?? ""}${route.path}`.replace(/:(\w+)/g, "{$1}");
    return Object.keys((route as unknown as { methods: object }).methods).map((verb) => `${verb} ${path}`);
  });

/** Paths that are answered before Express (docs/adr/0004-calls-before-express.md), or upgraded. */
const others = [
  "post /api/query",
  "post /api/graphql",
  "get /api/graphql",
  "post /api/mutation",
  "post /api/batch",
  "get /api/storage/{id}",
  "head /api/storage/{id}",
  "post /api/storage/uploads",
  "options /api/storage/uploads",
  ...["head", "patch", "delete", "put"].map((verb) => `${verb} /api/storage/uploads/{id}`),
  "get /ws",
  "get /api/realtime",
];

describe("the document", () => {
  test("has every mounted route and every procedure that clients may call, and nothing else", () => {
    const procedures = [...api["~svc"].procedures.values()].filter(({ kind }) => kind !== "internal");
    const calls = procedures.map(({ kind, name }) => `post /api/${kind}/${name}`);
    const express = mounted();
    expect(express).toContain("post /api/auth/sign-in");
    expect(operations().sort()).toEqual([...new Set([...express, ...calls, ...others])].sort());
  });

  test("lists no path that answers that it does not exist", async () => {
    const missing: string[] = [];
    for (const operation of operations()) {
      const [verb = "", path = ""] = operation.split(" ");
      if (path === "/ws" || path === "/api/realtime") continue; // without an upgrade they do not
      const init = { method: verb.toUpperCase(), redirect: "manual" } as const;
      const { status, body } = await svc.fetch(path.replace(/\{\w+\}/g, crypto.randomUUID()), init);
      if (status === 404 && /^There is no [A-Z]+ \//.test(body.error ?? "")) missing.push(operation);
    }
    expect(missing).toEqual([]);
  });

  test("says nothing of what is internal", () => {
    expect(JSON.stringify(document)).not.toMatch(/hidden|hush/);
  });

  test("is not sent again to those who have it, and says where the service is reached", async () => {
    const first = await svc.fetch("/openapi.json");
    expect(document.servers).toEqual([{ url: svc.url }]);
    expect(first.headers.get("cache-control")).toBe("no-cache");
    const again = await svc.fetch("/openapi.json", { headers: { "if-none-match": first.headers.get("etag") ?? "" } });
    expect([again.status, again.body]).toEqual([304, ""]);
  });

  test.for([
    [{ document: true, reference: false }, 200, 404],
    [{ document: false, reference: false }, 404, 404],
  ] as const)("and its page are there as configured: %j", async ([openapi, document, page]) => {
    const other = new TestService(db, api, { openapi });
    await other.start();
    try {
      const statuses = await Promise.all(["/openapi.json", "/openapi"].map((path) => other.fetch(path)));
      expect(statuses.map(({ status }) => status)).toEqual([document, page]);
    } finally {
      await other.stop();
    }
  });
});

test("a generated client compiles, and what it calls is what it says", async () => {
  const folder = join(root, "tests/openapi-client");
  const require = createRequire(join(folder, "package.json"));
  const generated = join(folder, ".svc");
  await mkdir(generated, { recursive: true });
  await writeFile(join(generated, "openapi.json"), JSON.stringify(document));
  const generator = join(dirname(require.resolve("openapi-typescript")), "../bin/cli.js");
  await run(process.execPath, [generator, join(generated, "openapi.json"), "-o", join(generated, "api.d.ts")]);
  await run(join(root, "node_modules/.bin/tsc"), ["-p", folder]).catch(({ stdout }) => expect(stdout).toBe(""));

  const { calls } = await import(join(folder, "calls.ts"));
  expect(await calls(svc.url)).toMatchObject({
    user: true,
    article: { title: "first", priority: 2 },
    total: 1,
    wrong: [{ path: ["title"], message: "is required" }],
    sum: 3,
    hello: "abab",
    leaf: "leaf",
    refused: "CONFLICT",
    measured: { size: 4 },
    gone: null,
    made: [200, 200],
    shaped: { slug: "one", author: "ann", titles: ["The first"], tags: [] },
    count: 1,
    bySlug: { slug: "one", title: "The first", authorId: 1, comments: [] },
    unselected: [{ path: ["select", 0] }],
  });
});

describe("the page", () => {
  test("needs nothing from elsewhere and runs nothing", async () => {
    const { status, body, headers } = await svc.fetch("/openapi");
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src data:; base-uri/,
    );
    // Without it Firefox asks for /favicon.ico, and reports that the policy blocks it.
    expect(body).toContain('<link rel="icon" href="data:,">');
    expect(body).not.toMatch(/<script|<link rel="(?!icon)|<img|\ssrc=|\sstyle=|\son\w+=|@import|url\(/i);
    for (const operation of operations()) {
      expect(body).toContain(`<code>${(operation.split(" ")[1] ?? "").replaceAll("'", "&#39;")}</code>`);
    }
  });

  test("has no link that leads nowhere", async () => {
    const { body } = await svc.fetch("/openapi");
    const ids = new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const links = [...body.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter((link) => !ids.has(link))).toEqual([]);
  });

  test("has no barrier that axe finds", async () => {
    const shown = ["/api/query/articles.list", "/api/mutation/files.measure", "/api/hello/{name}", "/api/storage/{id}"];
    const paths = Object.fromEntries(shown.map((path) => [path, document.paths[path] ?? {}]));
    const schemas = { "articles.Row": document.components.schemas?.["articles.Row"] };
    const page = openApiPage({ ...document, paths, components: { schemas } });
    const { window } = new JSDOM(page, { runScripts: "outside-only" });
    window.eval(await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
    // jsdom cannot judge colours; a check in a browser found no problem.
    const options = "{ rules: { 'color-contrast': { enabled: false } } }";
    const { violations } = await window.eval(`axe.run(document, ${options})`);
    expect(violations.map(({ id }: { id: string }) => id)).toEqual([]);
  });
});
