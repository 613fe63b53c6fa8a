// If this file fails, an anonymous caller reaches data that no policy protects, through code that the check at load does
// not see: that of another file, and names that are computed.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import { auditApplication } from "../../src/audit/audit.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { bearer, service, TestService } from "../support/service.ts";
import { type Case, readCases, writeCase, writePackages } from "./cases.ts";

const nameOf = (name: string) => `cases.${name.replaceAll("-", "_")}`;
const blocked = [...(await readCases("other-files", nameOf)), ...(await readCases("unseen", nameOf))];
const opened = await readCases("opened", nameOf);
const streams = await readCases("streams", nameOf);
const outputs = await readCases("outputs", nameOf);

// Inside the project, where @svc/core resolves.
await mkdir(join(root, ".svc"), { recursive: true });
const folder = await mkdtemp(join(root, ".svc/gate-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
await writePackages(folder);
await mkdir(join(folder, "tests"));
await writeFile(join(folder, "tests/tasks.test.ts"), "");

const procedures: Record<string, never> = {};
const httpRoutes: Record<string, never> = {};
for (const one of [...blocked, ...opened, ...streams, ...outputs]) {
  const path = join(await writeCase(folder, one), "backend/tasks.ts");
  for (const [key, made] of Object.entries(await import(pathToFileURL(path).href))) {
    if (typeof made !== "object") continue;
    const bag = "route" in (Object(made)["~svc"] ?? {}) ? httpRoutes : procedures;
    bag[`${one.name.replaceAll("-", "")}${key}`] = made as never;
  }
}

const db = database();
const api = defineApi({ procedures, httpRoutes });
const app = service(db, api, { cwd: folder } as object);
const input = { n: "1", what: "all", member: "unsafeDb", message: "hello" };

/** Calls the handler of a case over HTTP. */
function call(to: TestService, { name }: Case, user: Parameters<TestService["query"]>[0] = null) {
  if (name.startsWith("route-")) return to.fetch(`/cases/${name}`);
  if (name === "crud-hook-elsewhere") return to.mutate(user, "guestbook.create", input);
  return name === "fragments" ? to.mutate(user, nameOf(name), input) : to.query(user, nameOf(name), input);
}

test("the check at load accepts all of this", async () => {
  const options = { root: folder, rootDir: folder, schemaFiles: [], app: { api, schema: {} } };
  expect(await auditApplication(options)).toEqual([]);
});

describe("an anonymous call is stopped where it reaches past the policies", () => {
  test.for(blocked)("$name is blocked: $title", async (one) => {
    if (one.name === "stash-in-other-file") {
      const user = await app.signUp("keeper");
      expect((await app.query(user, `${nameOf(one.name)}_closed`)).status).toBe(200);
    }
    const { status, body } = await call(app, one);
    const [marked] = one.expected;
    expect(body).toMatchObject({ code: "ANONYMOUS_BLOCKED", error: "Something went wrong on our side." });
    expect(status).toBe(500);
    expect(body.hint).toContain(marked?.text ?? "unsafeDb");
    // Code of a package has no line of the application above it.
    if (marked) expect(body.hint).toContain(`at ${one.name}/${marked.place}:`);
    expect(body.hint).toContain(`defined at ${one.name}/backend/tasks.ts:`);
    expect(body.hint).toMatch(/^(cases\.\w+|get \/cases\/route-\w+|createCrud\(guestbook\)) (uses|names) /);
    expect(body.hint).toMatch(/svc-allow: reason: …; scope: …; owner: …; test: path\/to\/test|no comment allows this/);
  });

  test("also when somebody is signed in: it is the handler that answers anybody", async () => {
    const user = await app.signUp("reader");
    expect((await call(app, blocked.find(({ name }) => name === "barrel") as Case, user)).status).toBe(500);
  });
});

test.for(streams)("$name is stopped: $title", async (one) => {
  expect((await call(app, one)).body.toString()).toBe("then ANONYMOUS_BLOCKED");
});

describe.each(outputs)("$name is stopped: $title", ({ name }) => {
  const once = { name: nameOf(name), args: input };
  test.for([
    ["alone", "/api/mutation", once, {}],
    ["in a batch", "/api/batch", { calls: [once] }, {}],
    ["with an idempotency key", "/api/mutation", once, { "idempotency-key": name }],
  ] as const)("%s", async ([, path, body, headers]) => {
    const user = await app.signUp("caller");
    const sent = { "content-type": "application/json", ...bearer(user), ...headers };
    const answer = await app.fetch(path, { method: "POST", headers: sent, body: JSON.stringify(body) });
    expect(answer.body).toMatchObject({
      code: "ANONYMOUS_BLOCKED",
      hint: expect.stringContaining("/backend/shown.ts:"),
    });
  });
});

describe("what is allowed runs", () => {
  test.for(opened)("$name: $title", async (one) => {
    const { status, body } = await call(app, one);
    expect(body.json, app.logged.at(-1)).toBe(1);
    expect(status).toBe(200);
  });
});

test("in production only the log says what was blocked", async () => {
  const strict = new TestService(db, api, { cwd: folder, production: true } as object);
  await strict.start();
  onTestFinished(() => strict.stop());
  const { status, body } = await strict.query(null, nameOf("barrel"), input);
  expect(status).toBe(500);
  expect(Object.keys(body).sort()).toEqual(["code", "error", "requestId"]);
  expect(strict.logged.join("")).toContain("cases.barrel uses unsafeDb");
});
