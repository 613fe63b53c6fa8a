// If this file fails, an application built as in docs/how-to/user-profiles.md has users without a profile, or lets
// users change the profiles of others.
import { expect, test } from "vitest";
import { documented } from "./documented.ts";
import { snippets } from "./markdown.ts";

const page = "docs/how-to/user-profiles.md";
const { db, person, post, call, lint } = documented(page);

test("each user has a profile that everybody reads, and only its user changes", async () => {
  const [ann, bob] = await Promise.all(["ann", "bob"].map(person));
  const mine = (await call("query", ann.token, "profiles.mine")).body.json;
  expect(mine).toEqual({ id: ann.user.id, name: "ann", bio: "", image: null });

  const bio = "I like boats.";
  expect((await call("mutation", bob.token, "profiles.update", { id: mine.id, bio: "Mine" })).status).toBe(404);
  expect((await call("mutation", ann.token, "profiles.update", { id: mine.id, bio })).body.json).toMatchObject({ bio });
  const anonymous = await post("/api/query", { name: "profiles.list", args: { search: "ann" } });
  expect(anonymous.body.json.data).toEqual([{ ...mine, bio }]);

  await call("mutation", ann.token, "posts.create", { title: "A boat" });
  const shown = (await snippets()).find(({ place, language }) => place.startsWith(page) && language === "json");
  const { body: posts } = await post("/api/query", JSON.parse(shown?.text ?? ""));
  expect(posts.json.data).toMatchObject([{ title: "A boat", author: { name: "ann", image: null } }]);

  await db.sql('delete from auth."user" where id = $1', [ann.user.id]);
  expect((await post("/api/query", { name: "profiles.get", args: { id: mine.id } })).body.json).toBeNull();
});

test("the linter has nothing against it", async () => expect(await lint()).toEqual([]));
