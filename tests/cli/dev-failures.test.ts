// If this file fails, an author has to search for the cause of a failure while developing, or production discloses it.
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { freePort } from "../../src/cluster/port.ts";
import { copiedApplication, ready } from "../support/application-folder.ts";
import { database } from "../support/database.ts";

const app = copiedApplication(database("platform"), "tests/fixture");

const routes = `
import { createSvcHttpRouteBuilders } from "@svc/core";
import { avg, sql } from "drizzle-orm";
const httpRoute = createSvcHttpRouteBuilders();
const thrown = httpRoute.get.path("/thrown").allowAnonymous().handler(() => {
  throw new TypeError("canary of a handler");
});
const refused = httpRoute.get.path("/refused").allowAnonymous().handler(async ({ context }) => {
  const rows = await context.db.select({ average: avg(schema.posts.title) }).from(schema.posts);
  return { body: String(rows) };
});
const spoken = httpRoute.get.path("/spoken").allowAnonymous().handler(async ({ context }) => {
  await context.db.select({ done: sql\`done\` }).from(sql\`public.refuse() as done\`);
});
export default defineApi({ procedures: crud, httpRoutes: { thrown, refused, spoken } });
`;
const refuse = `
create or replace function public.refuse() returns void language plpgsql set search_path = '' as $$
begin
  raise exception 'Too late.' using errcode = 'AP409', hint = 'Come earlier.';
end $$;
grant execute on function public.refuse to svc_anonymous, svc_authenticated;
`;

beforeAll(async () => {
  const file = join(app.folder, "backend/index.ts");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace("export default defineApi({ procedures: crud });", routes));
  await writeFile(join(app.folder, "sql/refuse.sql"), refuse);
});

async function serve(args: string[], env: NodeJS.ProcessEnv = {}) {
  const command = app.svc(args, env);
  const url = await ready(command);
  const bodyOf = async (path: string, status = 500) => {
    const answer = await fetch(url + path);
    expect(answer.status).toBe(status);
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

  // The author's own words are no failure: the page shows them as in production.
  expect(await bodyOf("/spoken", 409)).toMatchObject({ error: "Too late.", hint: "Come earlier." });
  expect(command.output()).not.toContain("AP409");
});

test("a request in flight ends in the version that it began in while the next one answers, and a version that does not start leaves the last one serving", async () => {
  const index = join(app.folder, "backend/index.ts");
  const before = await readFile(index, "utf8");
  const gate = join(app.folder, "gate");
  const version = (answer: string) =>
    writeFile(
      index,
      before
        .replace(
          "export default",
          `import { existsSync } from "node:fs";
const versionOf = httpRoute.get.path("/version").allowAnonymous().handler(() => ({ body: "${answer}" }));
const slow = httpRoute.get.path("/slow").allowAnonymous().handler(async () => {
  while (!existsSync(${JSON.stringify(gate)})) await new Promise((resolve) => setTimeout(resolve, 20));
  return { body: "${answer}" };
});
export default`,
        )
        .replace("httpRoutes: {", "httpRoutes: { versionOf, slow,"),
    );
  onTestFinished(async () => {
    await writeFile(index, before);
    await rm(join(app.folder, "backend/auth.ts"), { force: true });
  });
  await version("one");
  // As authors have it: the next version takes the port of the one before.
  const port = String(await freePort());
  const command = app.svc(["dev"], { PORT: port });
  const url = await ready(command);
  const ask = (path: string) =>
    fetch(url + path).then(
      (response) => response.text(),
      () => "nothing",
    );
  expect(await ask("/version")).toBe("one");
  const slow = ask("/slow");
  await version("two");
  await expect.poll(() => ask("/version")).toBe("two");
  await writeFile(gate, "");
  expect(await slow).toBe("one");

  // Only a start calls plugins.
  await writeFile(
    join(app.folder, "backend/auth.ts"),
    'import { defineAuth } from "@svc/core";\nexport default defineAuth({ betterAuth: (options) => ({ ...options, plugins: [...(options.plugins ?? []), { id: "broken", init() { throw new Error("broken at start"); } }] }) });\n',
  );
  await expect
    .poll(command.output)
    .toContain(
      "The service did not start: exit code 1; its last output is above. Fix it and save a file to start it again. Until then the last good version serves.",
    );
  expect(command.output()).toContain("broken at start");
  expect(await ask("/version")).toBe("two");
  await rm(join(app.folder, "backend/auth.ts"));
  await version("three");
  await expect.poll(() => ask("/version")).toBe("three");
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
