// If this file fails, an application whose API others have specified cannot be written, or its policies leak.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createTestApp, type TestApp } from "@svc/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { testServer } from "../support/test-server.ts";

const run = promisify(execFile);
const collection = [dirname(root), dirname(dirname(root))]
  .map((folder) => join(folder, "shared/conduit/Conduit.postman_collection.json"))
  .find(existsSync);
/** 66 MB, which no other test needs. */
const newman = "newman@6";

const db = database("template0");
let app: TestApp;
beforeAll(async () => {
  testServer(db);
  app = await createTestApp({ api: {}, cwd: join(root, "examples/conduit"), log: "silent" });
});
afterAll(() => app?.close());

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  body: any;
}

async function call(method: string, path: string, { token = "", body }: { token?: string; body?: object } = {}) {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Token ${token}` }) };
  const options = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${app.url}/api${path}`, options);
  const text = await response.text();
  return { status: response.status, body: text && JSON.parse(text) } as Answer;
}

async function signUp(username: string): Promise<string> {
  const user = { username, email: `${username}@example.com`, password: "correct horse" };
  const { status, body } = await call("POST", "/users", { body: { user } });
  expect(status).toBe(201);
  return body.user.token;
}

const draft = { title: "How to train", description: "It is", body: "Slowly", tagList: ["training", "dragons"] };

async function write(token: string): Promise<string> {
  const { status, body } = await call("POST", "/articles", { token, body: { article: draft } });
  expect(status).toBe(201);
  return body.article.slug;
}

test.skipIf(!collection)(
  "answers RealWorld's official collection (skipped where shared/conduit is absent)",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-conduit-"));
    try {
      await writeFile(join(folder, "package.json"), "{}");
      const options = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
      await run("npm", ["install", ...options, newman], { cwd: folder });
      const variables = { APIURL: `${app.url}/api`, USERNAME: "u1", EMAIL: "u1@mail.example", PASSWORD: "password" };
      const given = Object.entries(variables).flatMap(([name, value]) => ["--global-var", `${name}=${value}`]);
      const report = ["--reporters", "json", "--reporter-json-export", "report.json", "--suppress-exit-code"];
      const command = [join(folder, "node_modules/newman/bin/newman.js"), "run", collection as string];
      await run(process.execPath, [...command, ...given, ...report], { cwd: folder });
      const { stats, failures } = JSON.parse(await readFile(join(folder, "report.json"), "utf8")).run;
      type Failure = { source: { name: string }; error: { message: string; test: string } };
      expect(failures.map(({ source, error }: Failure) => `${source.name}: ${error.test} ${error.message}`)).toEqual(
        [],
      );
      expect(stats.assertions.total).toBeGreaterThan(300);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

test("only the author changes an article, and everyone reads it", async () => {
  const [ann, bob] = [await signUp("ann"), await signUp("bob")];
  const slug = await write(ann);
  const change = { article: { body: "Mine now" } };
  expect(await call("PUT", `/articles/${slug}`, { token: bob, body: change })).toMatchObject({ status: 403 });
  expect(await call("DELETE", `/articles/${slug}`, { token: bob })).toMatchObject({ status: 403 });
  expect(await call("PUT", `/articles/${slug}`, { body: change })).toMatchObject({ status: 401 });
  const { body } = await call("GET", `/articles/${slug}`);
  expect(body.article).toMatchObject({ ...draft, tagList: ["dragons", "training"], author: { username: "ann" } });
  expect(await call("DELETE", `/articles/${slug}`, { token: ann })).toMatchObject({ status: 204 });
  expect(await call("GET", `/articles/${slug}`)).toMatchObject({ status: 404 });
});

test("follows and favorites are those of the caller", async () => {
  const [cat, dan] = [await signUp("cat"), await signUp("dan")];
  const slug = await write(cat);
  await call("POST", "/profiles/cat/follow", { token: dan });
  await call("POST", `/articles/${slug}/favorite`, { token: dan });
  const seen = async (token: string) => (await call("GET", `/articles?author=cat`, { token })).body.articles;
  const own = { slug, favorited: true, favoritesCount: 1, author: { username: "cat", following: true } };
  expect(await seen(dan)).toMatchObject([own]);
  const others = { favorited: false, favoritesCount: 1, author: { following: false } };
  expect(await seen(cat)).toMatchObject([others]);
  expect(await seen("")).toMatchObject([others]);
  expect((await call("GET", "/articles/feed", { token: dan })).body).toMatchObject({ articlesCount: 1 });
  expect((await call("GET", "/articles/feed", { token: cat })).body).toMatchObject({ articlesCount: 0 });
  await call("DELETE", `/articles/${slug}/favorite`, { token: cat });
  expect((await call("GET", "/articles?favorited=dan")).body).toMatchObject({ articlesCount: 1 });
});

test("a name, an address and a body that cannot be taken are 422 in Conduit's form", async () => {
  await signUp("eve");
  const refused = async (user: object) => (await call("POST", "/users", { body: { user } })).body.errors;
  const user = { username: "eve2", email: "eve2@example.com", password: "correct horse" };
  expect(await refused({ ...user, username: "eve" })).toEqual({ username: ["has already been taken"] });
  expect(await refused({ ...user, email: "eve@example.com" })).toEqual({ email: [expect.any(String)] });
  expect(await refused({ ...user, email: undefined })).toEqual({ email: [expect.any(String)] });
  const bad = { user: { email: "eve@example.com", password: "wrong horse" } };
  expect(await call("POST", "/users/login", { body: bad })).toMatchObject({ status: 401 });
});
