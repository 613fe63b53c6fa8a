// If this file fails, docs/how-to/query-your-data.md shows calls that do something else than it says.
import { expect, test } from "vitest";
import { documented } from "./documented.ts";
import { snippets } from "./markdown.ts";

const page = "docs/how-to/query-your-data.md";
const { person, call } = documented(page);

test("joins, links, upserts, counts, and undoes only what was nested", async () => {
  const { token } = await person("ann");
  const mutate = async (name: string, args: object) => (await call("mutation", token, name, args)).body.json;
  const publish = (handle: string, isbn: string) => mutate("books.publish", { handle, isbn, title: `By ${handle}` });
  expect(await publish("ann", "978-1")).toEqual({ books: 1 });
  expect(await publish("bob", "978-1")).toEqual({ books: 1 });
  const { id: tagId } = await mutate("tags.create", { name: "red" });
  await mutate("books.tag", { bookId: 1, tagId });

  const calls = (await snippets()).filter(({ place, language }) => place.startsWith(`${page}:`) && language === "json");
  const answers: unknown[] = [];
  for (const { text } of calls) {
    const { name, args } = JSON.parse(text);
    const { status, body } = await call(name.endsWith("upsert") ? "mutation" : "query", token, name, args);
    expect({ name, status, body }).toMatchObject({ status: 200 });
    answers.push(body.json.data ?? body.json);
  }
  expect(answers).toMatchObject([
    [{ title: "By ann", author: { handle: "ann" } }],
    [{ title: "By ann", tags: [{ name: "red" }] }],
    { isbn: "978-3", title: "New title" },
    [{ authorId: 1, count: 2 }],
  ]);
  const { body } = await call("query", token, "books.byHandle", { handle: "ann" });
  expect(body.json.map(({ title }: { title: string }) => title).sort()).toEqual(["By ann", "New title"]);
  expect((await call("query", token, "authors.list", { filters: { handle: "bob" } })).body.json.total).toBe(1);
});
