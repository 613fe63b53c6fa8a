// If this file fails, an author has to search for the cause of a failure while developing, or production discloses it.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { copiedApplication, ready } from "../support/application-folder.ts";
import { database } from "../support/database.ts";

const app = copiedApplication(database("platform"), "tests/fixture");

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
  const file = join(app.folder, "backend/index.ts");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace("export default defineApi({ procedures: crud });", routes));
});

async function serve(args: string[], env: NodeJS.ProcessEnv = {}) {
  const command = app.svc(args, env);
  const url = await ready(command);
  const bodyOf = async (path: string) => {
    const answer = await fetch(url + path);
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
});

test("an answer in production has no cause, also where svc dev starts it", async () => {
  const { command, bodyOf } = await serve(["start"], { NODE_ENV: "production", SVC_DEVELOPING: "1" });
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
});
