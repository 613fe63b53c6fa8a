// If this file fails, an author has to search for the cause of a failure while developing, or production discloses it.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Command, svc as start } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database("template1");
let folder: string;
const running: Command[] = [];

const routes = `
import { createSvcHttpRouteBuilders } from "@svc/core";
import { avg } from "drizzle-orm";
const httpRoute = createSvcHttpRouteBuilders();
const thrown = httpRoute.get.path("/thrown").allowAnonymous().handler(() => {
  throw new TypeError("canary of a handler");
});
const refused = httpRoute.get.path("/refused").allowAnonymous().handler(async ({ context }) => {
  const rows = await context.db.select({ average: avg(schema.posts.title) }).from(schema.posts);
  return new Response(String(rows));
});
export default defineApi({ procedures: crud, httpRoutes: { thrown, refused } });
`;

beforeAll(async () => {
  // Inside the project, where @svc/core resolves.
  await mkdir(join(root, ".svc"), { recursive: true });
  folder = await mkdtemp(join(root, ".svc/dev-failures-"));
  await cp(join(root, "tests/fixture"), folder, { recursive: true });
  const file = join(folder, "backend/index.ts");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace("export default defineApi({ procedures: crud });", routes));
});
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill("SIGTERM");
    await ended;
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function serve(args: string[], env: NodeJS.ProcessEnv = {}) {
  const command = start(db, folder, args, env);
  running.push(command);
  const url = () => /Ready: (\S+)/.exec(command.output())?.[1] ?? "";
  await expect.poll(() => url() || command.output(), { timeout: 40_000 }).toMatch(/^http/);
  const bodyOf = async (path: string) => {
    const answer = await fetch(url() + path);
    expect(answer.status).toBe(500);
    return answer.json();
  };
  return { command, bodyOf };
}

test("while developing, the terminal and the answer have the place, and PostgreSQL's message, statement and hint", async () => {
  const { command, bodyOf } = await serve(["dev"]);
  const thrown = await bodyOf("/thrown");
  expect(thrown).toMatchObject({ code: "INTERNAL", hint: expect.stringContaining("TypeError: canary of a handler") });
  expect(thrown.hint).toMatch(/^backend\/index\.ts:\d+:9\n {4}throw new TypeError\("canary of a handler"\);\n +\^\n/);
  expect(command.output()).toContain(thrown.hint);

  const refused = await bodyOf("/refused");
  expect(refused.hint).toMatch(/^backend\/index\.ts:\d+:\d+\n.*await context\.db\.select/);
  expect(refused.hint).toMatch(/^PostgreSQL: function avg\(text\) does not exist \(42883\)$/m);
  expect(refused.hint).toMatch(/^ {2}Statement: select avg\(.*"title"\)/m);
  expect(refused.hint).toMatch(/^ {2}Hint: No function matches/m);
  expect(command.output()).toContain(refused.hint);
}, 120_000);

test.each([
  ["in production", { NODE_ENV: "production", SVC_DEVELOPING: "1" }],
  ["of svc start", {}],
])(
  "an answer %s has no cause",
  async (_what, env) => {
    const { command, bodyOf } = await serve(["start"], env);
    const { requestId } = await bodyOf("/thrown");
    expect(await bodyOf("/thrown")).toEqual({
      error: expect.any(String),
      code: "INTERNAL",
      requestId: expect.any(String),
    });
    const refused = await bodyOf("/refused");
    expect(refused).toEqual({ error: expect.any(String), code: "INTERNAL", requestId: refused.requestId });
    expect(command.output()).not.toContain("PostgreSQL: function");
    await expect.poll(command.output).toContain(requestId); // the log connects them
  },
  120_000,
);

test("nor has one of svc dev in production", async () => {
  const { bodyOf } = await serve(["dev"], { NODE_ENV: "production" });
  expect(await bodyOf("/thrown")).not.toHaveProperty("hint");
}, 120_000);
