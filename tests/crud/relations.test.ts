// If this file fails, related rows of generated CRUD are missing or wrong: a relation leads to other rows, a level forgets
// the columns, the policies or the soft deletion of its table, or what cannot be asked is not refused.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { blogSql, procedures } from "./blog.ts";

const db = database();
beforeAll(() => db.sql(blogSql));
const running = service(db, apiWith({ procedures }));

let ann: User;
let bob: User;
beforeAll(async () => {
  ann = await running.signUp("ann");
  bob = await running.signUp("bob");
  await db.sql(`
    insert into authors (handle, email, born_at) values ('ann', 'a@x.org', '1990-01-01'), ('bob', 'b@x.org', null), ('cid', null, null);
    insert into blog_posts (slug, title, author_id, editor_id) values
      ('one', 'The first', 1, 2), ('two', 'The second', 1, 3), ('three', 'The third', null, 1);
    insert into tags (name) values ('red'), ('blue'), ('green');
    insert into post_tags values (1, 1), (1, 2), (2, 2);
    insert into follows values (1, 2), (1, 3), (2, 1);
    insert into editions (book, number) values ('a', 1), ('a', 2), ('b', 1);
    insert into prints (book, number, copies) values ('a', 1, 10), ('a', 1, 20), ('b', 1, 30), ('b', null, 40);`);
  await db.sql(
    `insert into comments (user_id, post_id, parent_id, body, secret, deleted_at) values
       ($1, 1, null, 'mine', 'hidden', null), ($2, 1, null, 'theirs', null, null), ($1, 1, 1, 'reply', null, null),
       ($1, 1, null, 'gone', null, now()), ($1, 2, null, 'other', null, null)`,
    [ann.id, bob.id],
  );
});

/** @returns the answer, which must be 200 */
async function ask(user: User | null, name: string, args?: object) {
  const { status, body } = await running.query(user, name, args);
  if (status === 500) throw new Error(running.logged.at(-1));
  expect({ args, status, body: status === 200 || body }).toEqual({ args, status: 200, body: true });
  return body.json;
}
const posts = async (user: User | null, args: object) =>
  (await ask(user, "blog_posts.list", { orderBy: "id", orderDir: "asc", ...args })).data;
const slugs = async (user: User | null, filters: object) =>
  (await posts(user, { filters, select: ["slug"] })).map(({ slug }: { slug: string }) => slug);

describe("a list with include", () => {
  test("counts related rows, which the caller may see and the filters let pass", async () => {
    const counted = async (user: User | null, _count: object) =>
      (await posts(user, { select: ["slug"], include: { _count } })).map((post: { _count: object }) => post._count);
    expect(await counted(ann, { comments: true, tags: { filters: { name: "red" } } })).toEqual([
      { comments: 2, tags: 1 },
      { comments: 1, tags: 0 },
      { comments: 0, tags: 0 },
    ]);
    expect(await counted(bob, { comments: true })).toEqual([{ comments: 1 }, { comments: 0 }, { comments: 0 }]);
    const [one] = await posts(ann, {
      include: { comments: { limit: 1, select: ["body"] }, _count: { comments: true } },
    });
    expect(one).toMatchObject({ comments: [expect.anything()], _count: { comments: 2 } });
    expect(await ask(ann, "blog_posts.get", { id: 1, select: ["slug"], include: { _count: { tags: true } } })).toEqual({
      slug: "one",
      _count: { tags: 2 },
    });
  });

  test("refuses counts of what is no relation to many rows", async () => {
    const refused = async (_count: unknown) => {
      const { status, body } = await running.query(ann, "blog_posts.list", { include: { _count } });
      expect(status).toBe(400);
      return body.issues;
    };
    expect(await refused(true)).toEqual([
      { path: ["include", "_count"], message: "must be an object such as { comments: true }" },
    ]);
    expect(await refused({ author: true, nonsense: true, tags: { limit: 1 }, comments: 3 })).toEqual([
      { path: ["include", "_count", "author"], message: expect.stringContaining("to many rows, which has") },
      { path: ["include", "_count", "nonsense"], message: expect.stringContaining("to many rows, which has") },
      { path: ["include", "_count", "tags", "limit"], message: "is not an option: filters" },
      { path: ["include", "_count", "comments"], message: "must be true, or { filters }" },
    ]);
  });

  test("has one row, rows and rows behind a join table, with the columns of their resources", async () => {
    const [one, , three] = await posts(null, { include: { author: true, editor: { select: ["handle"] }, tags: true } });
    expect(one).toEqual({
      id: 1,
      slug: "one",
      title: "The first",
      authorId: 1,
      author: { id: 1, handle: "ann", bornAt: "1990-01-01T00:00:00+00:00" },
      editor: { handle: "bob" },
      tags: [
        { id: 2, name: "blue" },
        { id: 1, name: "red" },
      ],
    });
    expect(three).toMatchObject({ author: null, tags: [] });
  });

  test("reads every level under its own policies, without softly deleted rows", async () => {
    const bodies = async (user: User) =>
      (await posts(user, { include: { comments: { select: ["body"] } } })).map(
        (post: { comments: { body: string }[] }) => post.comments.map(({ body }) => body),
      );
    expect(await bodies(ann)).toEqual([["reply", "mine"], ["other"], []]);
    expect(await bodies(bob)).toEqual([["theirs"], [], []]);
  });

  test("sorts, limits and filters what it includes", async () => {
    const include = {
      comments: {
        orderBy: { body: "asc" },
        limit: 1,
        select: ["body"],
        filters: { body: { op: "ne", value: "mine" } },
      },
    };
    expect((await posts(ann, { include, select: ["slug"], limit: 1 }))[0]).toEqual({
      slug: "one",
      comments: [{ body: "reply" }],
    });
  });

  test("includes no more rows than a page of their table may have", async () => {
    await db.sql("insert into comments (user_id, post_id, body) select $1, 3, 'more' from generate_series(1, 5)", [
      ann.id,
    ]);
    const include = { comments: { limit: 100, select: ["body"] } };
    const [three] = await posts(ann, { include, filters: { slug: "three" } });
    expect(three.comments).toHaveLength(3);
    await db.sql("delete from comments where body = 'more'");
  });

  test("follows self-references and cycles to three levels", async () => {
    const include = { comments: { include: { parent: { select: ["body"] }, replies: { include: { post: true } } } } };
    const [one] = await posts(ann, { include, filters: { slug: "one" } });
    expect(one.comments[0]).toMatchObject({ body: "reply", parent: { body: "mine" }, replies: [] });
    expect(one.comments[1]).toMatchObject({
      body: "mine",
      parent: null,
      replies: [{ body: "reply", post: { id: 1, slug: "one" } }],
    });
    expect(one.comments[0]).not.toHaveProperty("secret");
  });

  test("goes both ways through a join table of one table, and over keys of two columns", async () => {
    const { data } = await ask(null, "authors.list", {
      orderBy: "id",
      orderDir: "asc",
      select: ["handle"],
      include: { followers: { select: ["handle"] }, following: { select: ["handle"] } },
    });
    expect(data).toEqual([
      { handle: "ann", followers: [{ handle: "bob" }], following: [{ handle: "cid" }, { handle: "bob" }] },
      { handle: "bob", followers: [{ handle: "ann" }], following: [{ handle: "ann" }] },
      { handle: "cid", followers: [{ handle: "ann" }], following: [] },
    ]);
    const editions = await ask(null, "editions.list", {
      select: ["book"],
      include: { prints: { select: ["copies"] } },
    });
    expect(editions.data).toEqual([
      { book: "b", prints: [{ copies: 30 }] },
      { book: "a", prints: [] },
      { book: "a", prints: [{ copies: 20 }, { copies: 10 }] },
    ]);
    expect((await ask(null, "prints.list", { include: { editions: true }, limit: 1 })).data[0].editions).toBeNull();
  });

  test("counts, pages and searches as without", async () => {
    const walked: string[] = [];
    for (let cursor: string | null = null, page = 0; page === 0 || cursor; page++) {
      const list = await ask(null, "blog_posts.list", {
        include: { author: true },
        select: ["slug"],
        limit: 2,
        cursor,
      });
      walked.push(...list.data.map(({ slug }: { slug: string }) => slug));
      cursor = list.nextCursor;
    }
    expect(walked).toEqual(["three", "two", "one"]);
    expect(await ask(null, "blog_posts.list", { include: { author: true }, limit: 1 })).toMatchObject({ total: 3 });
  });
});

describe("a get", () => {
  test("takes include and select", async () => {
    expect(
      await ask(null, "blog_posts.get", { id: 1, select: ["title"], include: { author: { select: ["handle"] } } }),
    ).toEqual({
      title: "The first",
      author: { handle: "ann" },
    });
    expect(await ask(null, "blog_posts.get", { id: 99, include: { author: true } })).toBeNull();
  });

  test("finds a row by its other keys", async () => {
    expect(await ask(null, "blog_posts.get", { slug: "two" })).toMatchObject({ id: 2, slug: "two", authorId: 1 });
    expect(await ask(null, "blog_posts.get", { slug: "two", include: { tags: true } })).toMatchObject({
      tags: [{ name: "blue" }],
    });
    expect(await ask(null, "blog_posts.get", { slug: "none" })).toBeNull();
    expect(await ask(null, "editions.get", { book: "a", number: 2 })).toMatchObject({ id: 2 });
    const refused = await running.query(null, "editions.get", { book: "a" });
    expect(refused.body).toMatchObject({ code: "VALIDATION_FAILED", issues: [{ path: ["id"] }] });
  });
});

describe("a filter through a relation", () => {
  test("finds rows by the one row that they refer to", async () => {
    expect(await slugs(null, { author: { handle: "ann" } })).toEqual(["one", "two"]);
    expect(await slugs(null, { editor: { bornAt: { op: "lt", value: "2000-01-01" } } })).toEqual(["three"]);
    expect(await slugs(null, { OR: [{ author: { handle: "cid" } }, { editor: { handle: "cid" } }] })).toEqual(["two"]);
  });

  test("finds rows by some, none or every of those that refer to them", async () => {
    expect(await slugs(ann, { comments: { some: { body: "mine" } } })).toEqual(["one"]);
    expect(await slugs(ann, { comments: { none: { body: "mine" } } })).toEqual(["two", "three"]);
    expect(await slugs(ann, { comments: { every: { body: "other" } } })).toEqual(["two", "three"]);
    expect(await slugs(ann, { comments: { some: {} } })).toEqual(["one", "two"]);
    expect(await slugs(ann, { comments: { none: {} } })).toEqual(["three"]);
    expect(await slugs(null, { tags: { some: { name: "red" }, none: { name: "green" } } })).toEqual(["one"]);
    expect(await slugs(null, { author: { posts: { some: { tags: { some: { name: "red" } } } } } })).toEqual([
      "one",
      "two",
    ]);
  });

  test("counts no row that the caller may not see, and none that is softly deleted", async () => {
    expect(await slugs(bob, { comments: { some: { body: "mine" } } })).toEqual([]);
    expect(await slugs(ann, { comments: { some: { body: "theirs" } } })).toEqual([]);
    expect(await slugs(ann, { comments: { some: { body: "gone" } } })).toEqual([]);
    const { total } = await ask(bob, "blog_posts.list", { filters: { comments: { some: { body: "mine" } } } });
    expect(total).toBe(0);
  });

  test("takes the allowed filters of the other resource alone", async () => {
    const all = ["one", "two", "three"];
    expect(await slugs(ann, { comments: { some: { secret: "hidden" } } })).toEqual(all);
    expect(await slugs(null, { author: { email: "a@x.org" }, nothing: { some: {} } })).toEqual(all);
  });
});

describe("without a session", () => {
  test.for([
    { include: { comments: true } },
    { include: { author: { include: { posts: { include: { comments: true } } } } } },
    { filters: { comments: { some: { body: "mine" } } } },
    { filters: { OR: [{ slug: "one" }, { author: { posts: { some: { comments: { none: {} } } } } }] } },
  ])("a relation to rows of signed-in callers is refused: %j", async (args) => {
    const { status, body } = await running.query(null, "blog_posts.list", args);
    expect({ status, code: body.code }).toEqual({ status: 401, code: "UNAUTHORIZED" });
    expect(body.error).toContain("comments");
  });
});

describe("what is refused with 400", () => {
  const ofPost = { author: true, editor: true, tags: { limit: 1 } };
  const some = { limit: 1, include: ofPost };
  /** Ten relations. */
  const ofAuthor = { posts: some, edited: some, followers: { limit: 1 }, following: { limit: 1 } };
  // biome-ignore format: a table
  test.for<[object, (string | number)[], string]>([
    [{ include: { autor: true } }, ["include", "autor"], "author, editor, comments, tags"],
    [{ include: { comments: { include: { nothing: true } } } }, ["include", "comments", "include", "nothing"], "post, parent, replies"],
    [{ include: { author: 1 } }, ["include", "author"], "true"],
    [{ include: ["author"] }, ["include"], "object"],
    [{ include: { author: { limit: 3 } } }, ["include", "author", "limit"], "select, include"],
    [{ include: { tags: { limit: "3" } } }, ["include", "tags", "limit"], "number"],
    [{ include: { tags: { orderBy: { name: "up" } } } }, ["include", "tags", "orderBy"], "asc"],
    [{ include: { tags: { orderBy: { nothing: "asc" } } } }, ["include", "tags", "orderBy", "nothing"], "id, name"],
    [{ select: "title" }, ["select"], "list"],
    [{ select: ["title", "editorId"] }, ["select", 1], "id, slug, title, authorId"],
    [{ include: { author: { select: ["email"] } } }, ["include", "author", "select", 0], "handle"],
    [{ include: { author: { include: { posts: { include: { author: { include: { posts: true } } } } } } } },
      ["include", "author", "include", "posts", "include", "author", "include"], "3 relations"],
    [{ include: { tags: { limit: 100, include: { posts: { limit: 100 } } } } }, ["include"], "10000"],
    [{ include: { author: { include: ofAuthor }, editor: { include: ofAuthor } } }, ["include"], "20 relations"],
    [{ filters: { AND: Array(21).fill({ author: { handle: "x" } }) } }, ["filters"], "20 relations"],
    [{ include: { tags: { filters: { AND: Array(21).fill({ posts: { none: {} } }) } } } }, ["filters"], "20 relations"],
  ])("%j", async ([args, path, text]) => {
    const { status, body } = await running.query(ann, "blog_posts.list", args);
    expect({ status, code: body.code, path: body.issues[0].path }).toEqual({
      status: 400,
      code: "VALIDATION_FAILED",
      path,
    });
    expect(body.issues[0].message).toContain(text);
  });
});
