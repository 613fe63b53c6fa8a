// @vitest-environment jsdom
// If this file fails, following the README ends in an error.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cleanup, render, screen } from "@testing-library/react";
import { createElement as h } from "react";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import WebSocket from "ws"; // the document's own WebSocket sends another origin
import { SvcProvider } from "../../client/react/src/index.ts";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { applicationFolder } from "../support/application-folder.ts";
import { noDatabase, runHere } from "../support/cli.ts";
import { documented } from "./documented.ts";
import { type Snippet, snippets } from "./markdown.ts";

const { db, folder, url, person, call, post } = documented("README.md");
let readme: Snippet[];
afterAll(cleanup); // other files show pages in the same document

beforeAll(async () => {
  readme = (await snippets()).filter(({ place }) => place.startsWith("README.md"));
});

test("the README names the files of a whole application", () => {
  expect(readme.flatMap(({ file }) => file ?? [])).toEqual([
    "backend/schema.ts",
    "backend/index.ts",
    "web/tasks.tsx",
    "migrations/0001_create_tasks.sql",
  ]);
});

test("its migration is the one that svc writes from its schema", async () => {
  const shown = readme.filter(({ file }) => file?.startsWith("backend/")).map(({ file, text }) => [file, text]);
  const app = await applicationFolder(Object.fromEntries(shown));
  onTestFinished(() => rm(app, { recursive: true }));
  expect(await runHere(["migrate", "generate", "--cwd", app], noDatabase)).toMatchObject({ code: 0 });
  const written = await readFile(join(app, "migrations/0001_create_tasks.sql"), "utf8");
  const printed = readme.find(({ language }) => language === "sql")?.text;
  expect(written.slice(written.indexOf("CREATE TABLE")).trim()).toBe(printed?.trim());
});

test("its requests get the answers that it prints", async () => {
  const block = readme.find(({ text }) => text.includes("curl"))?.text ?? "";
  const calls = [...block.matchAll(/curl -s localhost:4000(\S+)[\s\S]*?-d '(.*)'\n# (.*)/g)];
  expect(calls).toHaveLength(2);

  let token: string | undefined;
  for (const [, path = "", body = "", printed = ""] of calls) {
    const { body: answer } = await post(path, JSON.parse(body), token);
    expect(shape(answer)).toEqual(shape(JSON.parse(printed)));
    token = answer.token ?? token;
  }
});

test("its error is what a missing title gives", async () => {
  const printed = JSON.parse(readme.find(({ language }) => language === "json")?.text ?? "");
  const { token } = await person("bob");
  const { body } = await call("mutation", token, "tasks.create");
  expect({ ...body, requestId: "…" }).toEqual(printed);
});

test("its own procedure counts one's own rows and nobody else's", async () => {
  const [cleo, dan] = [await person("cleo"), await person("dan")];
  await call("mutation", cleo.token, "tasks.create", { title: "Write docs" });
  const counted = async ({ token }: { token: string }) =>
    (await call("query", token, "tasks.openCount")).body.json.open;
  expect([await counted(cleo), await counted(dan)]).toEqual([1, 0]);
  expect((await post("/api/query", { name: "tasks.openCount" })).status).toBe(401);
});

test("its page shows what psql writes", async () => {
  const auth = createAuthClient(url(), { sessionTokenStorage: "memory" });
  const { api } = await import(/* @vite-ignore */ pathToFileURL(join(folder, "web/svc/api.ts")).href);
  const { Tasks } = await import(/* @vite-ignore */ pathToFileURL(join(folder, "web/tasks.js")).href);
  const apiClient = createSvcClient({ api, baseUrl: url(), auth, WebSocket: WebSocket as never });
  const { id } = await auth.signUp("eve@example.com", "correct horse", "Eve");
  render(h(SvcProvider, { apiClient }, h(Tasks)));
  (await screen.findByText("0 open", {}, { timeout: 20_000 })).click();
  await screen.findByText("1 open", {}, { timeout: 20_000 });
  await db.sql("insert into tasks (user_id, title) values ($1, 'from psql')", [id]);
  await screen.findByText("2 open", {}, { timeout: 20_000 });
  apiClient.close();
});

/** Names and types: ids and times differ from run to run. */
function shape(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shape(inner)]));
}
