// If this file fails, an application built as in docs/how-to/blocks.md shows people what a block hides, at some door or on a
// page that is open already.
import { join } from "node:path";
import { expect, test } from "vitest";
import WebSocket from "ws";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { documented } from "./documented.ts";

const { folder, url, person, call, lint } = documented("docs/how-to/blocks.md");

/** What a caller sees, by door: as JSON, without the order of rows. */
async function doors(token: string, post: number) {
  const query = async (name: string, args: object = {}) => {
    const { status, body } = await call("query", token, name, args);
    expect({ name, status }).toEqual({ name, status: 200 });
    return JSON.stringify(body.json);
  };
  return {
    list: await query("posts.list"),
    get: await query("posts.get", { id: post }),
    search: await query("posts.list", { search: "boat" }),
    include: await query("posts.list", { select: ["id"], include: { answers: true, _count: { answers: true } } }),
    related: await query("posts.list", { filters: { answers: { some: {} } } }),
    aggregate: await query("posts.aggregate", { groupBy: ["userId"], measures: ["count"] }),
    answers: await query("answers.list", { include: { post: true } }),
  };
}

async function scene(...names: string[]) {
  const [ann, bob, cat] = await Promise.all(names.map(person));
  const create = async (who: { token: string }, name: string, args: object) =>
    (await call("mutation", who.token, `${name}.create`, args)).body.json;
  const annPost = await create(ann, "posts", { body: "A boat of Ann" });
  const bobPost = await create(bob, "posts", { body: "A boat of Bob" });
  const catPost = await create(cat, "posts", { body: "A boat of Cat" });
  for (const who of [ann, bob]) await create(who, "answers", { postId: catPost.id, body: "Nice" });
  await create(bob, "answers", { postId: annPost.id, body: "Nice" });
  return { ann, bob, cat, annPost, bobPost, catPost };
}

test("a block hides two people from each other at every door, until it is removed", async () => {
  const { ann, bob, cat, annPost, bobPost } = await scene("ann", "bob", "cat");
  const before = await doors(bob.token, annPost.id);
  for (const [door, text] of Object.entries(before)) expect([door, text.includes(ann.user.id)]).toEqual([door, true]);

  const block = (await call("mutation", ann.token, "blocks.create", { person: bob.user.id })).body.json;
  for (const [door, text] of Object.entries(await doors(bob.token, annPost.id))) {
    expect([door, text.includes(ann.user.id)]).toEqual([door, false]);
  }
  for (const [door, text] of Object.entries(await doors(ann.token, bobPost.id))) {
    expect([door, text.includes(bob.user.id)]).toEqual([door, false]);
  }
  expect((await doors(bob.token, annPost.id)).include).toContain('"_count":{"answers":1}');
  expect((await doors(cat.token, annPost.id)).include).toContain('"_count":{"answers":2}');
  expect((await call("mutation", bob.token, "answers.create", { postId: annPost.id, body: "Hm" })).status).toBe(403);
  // Who is blocked does not read the block.
  expect((await call("query", bob.token, "blocks.list")).body.json.data).toEqual([]);
  expect((await call("mutation", bob.token, "blocks.remove", { id: block.id })).status).toBe(404);

  await call("mutation", ann.token, "blocks.remove", { id: block.id });
  expect(await doors(bob.token, annPost.id)).toEqual(before);
});

test("pages that are open show a block at once, and its end", async () => {
  const { ann, bob, annPost } = await scene("anna", "bert", "carl");
  const { api } = await import(join(folder, "web/svc/api.ts"));
  const auth = createAuthClient(url());
  await auth.signIn("bert@example.com", "correct horse");
  const client = createSvcClient({ api, baseUrl: url(), auth, WebSocket: WebSocket as never });
  const pages: Record<string, unknown> = {};
  const watch = (name: string, operation: never, args: object) =>
    client.watch(operation, args, (shown: unknown) => {
      pages[name] = shown;
    });
  const ends = [
    watch("list", api.posts.list as never, {}),
    watch("get", api.posts.get as never, { id: annPost.id }),
    watch("answers", api.answers.list as never, { include: { post: true } }),
    watch("aggregate", api.posts.aggregate as never, { groupBy: ["userId"], measures: ["count"] }),
  ];
  const shows = (id: string) => () =>
    Object.fromEntries(Object.entries(pages).map(([name, shown]) => [name, JSON.stringify(shown).includes(id)]));
  const all = (shown: boolean) => ({ list: shown, get: shown, answers: shown, aggregate: shown });
  try {
    await expect.poll(shows(ann.user.id), { timeout: 10_000 }).toEqual(all(true));
    const block = (await call("mutation", ann.token, "blocks.create", { person: bob.user.id })).body.json;
    await expect.poll(shows(ann.user.id), { timeout: 10_000 }).toEqual(all(false));
    await call("mutation", ann.token, "blocks.remove", { id: block.id });
    await expect.poll(shows(ann.user.id), { timeout: 10_000 }).toEqual(all(true));
  } finally {
    for (const end of ends) end();
    client.close();
  }
});

test("the linter has nothing against it", async () => {
  expect(await lint()).toEqual([]);
});
