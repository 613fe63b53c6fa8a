// If this file fails, an application whose API others have specified cannot be written, or its policies leak.
import { join } from "node:path";
import { createTestApp, type TestApp } from "@svc/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { testServer } from "../support/test-server.ts";

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

test("the linter has nothing against it", async () => {
  const findings =
    "select rule, name from svc_private.lint_schema() where severity <> 'info' and name not like '%svc.%'";
  expect(await app.sql(findings)).toEqual([]);
});

const draft = { title: "How to train", description: "It is", body: "Slowly", tagList: ["training", "dragons"] };

async function write(token: string): Promise<string> {
  const { status, body } = await call("POST", "/articles", { token, body: { article: draft } });
  expect(status).toBe(201);
  return body.article.slug;
}

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
