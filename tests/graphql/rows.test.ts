/** Reads by GraphQL: exactly the rows of the generated list for the same caller, on any path of the query. */

import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";
import { service, type User } from "../support/service.ts";
import { asker } from "./support.ts";

const db = database();
const app = service(db);
const ask = asker(app);
const numRuns = Number(process.env.FUZZ_RUNS ?? 0) > 0 ? 2000 : 25;

/** The resources that are compared by name and by GraphQL. */
const resources = {
  notes: { list: "notes", fields: ["id", "title", "done", "priority", "userId"], anonymous: false },
  posts: { list: "posts", fields: ["id", "title", "userId"], anonymous: true },
  guestbook: { list: "guestbooks", fields: ["id", "message"], anonymous: true },
  announcements: { list: "announcements", fields: ["id", "message"], anonymous: false },
  articles: { list: "articles", fields: ["id", "title", "price", "rank", "day", "published"], anonymous: true },
  flags: { list: "flags", fields: ["id", "label"], anonymous: false },
  memberships: { list: "memberships", fields: ["id", "teamId"], anonymous: false },
  boards: { list: "boards", fields: ["id", "name", "teamId"], anonymous: false },
};
type Name = keyof typeof resources;
const names = Object.keys(resources) as Name[];
const users: User[] = [];

beforeAll(async () => {
  for (const name of ["ann", "ben", "cyd"]) users.push(await app.signUp(name));
  await db.sql("alter table samples add foreign key (a_uuid) references articles (id)");
  for (const [index, { id }] of users.entries()) {
    await db.sql(
      `insert into notes (user_id, title, priority) select $1, 'note ' || n, n % 7 from generate_series(1, 45) n`,
      [id],
    );
    await db.sql(`insert into posts (user_id, title) select $1, 'post ' || n from generate_series(1, 9) n`, [id]);
    await db.sql(
      `insert into articles (user_id, title, price, rank, day, published, deleted_at, priority)
       select $1, 'article ' || n % 5, n / 3.0, 9007199254740993 + n, '2026-01-01'::date + n, n % 2 = 0,
              case when n % 4 = 0 then now() end, n % 3
         from generate_series(1, 30) n`,
      [id],
    );
    await db.sql(
      "insert into flags (id, user_id, label, gone) select $1 || n, $1, 'f' || n, n % 3 = 0 from generate_series(1, 9) n",
      [id],
    );
    await db.sql("insert into memberships (team_id, user_id) values ($1, $2), ('all', $2)", [`team ${index}`, id]);
    await db.sql("insert into boards (team_id, name) values ($1, 'own'), ('all', 'shared')", [`team ${index}`]);
  }
  await db.sql(
    "insert into samples (user_id, a_uuid, a_text) select u.id, a.id, 'private' from articles a, auth.user u where a.deleted_at is null",
  );
  await db.sql("insert into guestbook (message) select 'hello ' || n from generate_series(1, 12) n");
  await db.sql("insert into announcements (message) select 'hear ' || n from generate_series(1, 12) n");
});

const callers = () => fc.constantFrom(null, ...users);

test("any page of any table, for any caller, holds the rows of the generated list, in its order, and its total", {
  timeout: 3_600_000,
}, async () => {
  const page = fc.record({
    name: fc.constantFrom(...names),
    caller: callers(),
    limit: fc.option(fc.integer({ min: 0, max: 130 }), { nil: undefined }),
    page: fc.integer({ min: 1, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(page, async ({ name, caller, limit, page }) => {
      const { list, fields } = resources[name];
      const size = Math.min(Math.max(limit ?? 20, 1), 100);
      const byName = await app.query(caller, `${name}.list`, { limit: limit === undefined ? undefined : size, page });
      const variables = { first: limit === undefined ? null : size, offset: (page - 1) * size };
      const answer = await ask(
        caller,
        `query ($first: Int, $offset: Int) {
           list: ${list}(first: $first, offset: $offset) { totalCount nodes { ${fields.join(" ")} } }
         }`,
        variables,
      );
      if (byName.status !== 200) {
        expect(answer.data.list).toBeNull();
        expect(answer.errors[0].extensions.code).toBe(byName.body.code);
        return;
      }
      expect(answer.errors).toEqual([]);
      const expected = byName.body.json.data.map((row: Record<string, unknown>) =>
        Object.fromEntries(fields.map((field) => [field, row[field]])),
      );
      expect(answer.data.list.nodes).toEqual(expected);
      expect(answer.data.list.totalCount).toBe(byName.body.json.total);
    }),
    { numRuns },
  );
});

test("conditions and orders are the filters and orders of the list", { timeout: 3_600_000 }, async () => {
  const asked = fc.record({
    caller: callers(),
    published: fc.boolean(),
    title: fc.constantFrom("article 0", "article 3", "none"),
    order: fc.constantFrom(["title", "asc"], ["price", "desc"], ["rank", "asc"], ["day", "desc"]),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ caller, published, title, order: [orderBy = "", orderDir = ""] }) => {
      const filters = { published, title };
      const byName = await app.query(caller, "articles.list", { filters, orderBy, orderDir, limit: 100 });
      const constant = `${orderBy}_${orderDir}`.toUpperCase();
      const answer = await ask(
        caller,
        `query ($condition: ArticleCondition) {
           articles(first: 100, condition: $condition, orderBy: [${constant}, ID_${orderDir.toUpperCase()}]) { nodes { id } }
         }`,
        { condition: filters },
      );
      const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);
      expect(ids(answer.data.articles.nodes)).toEqual(ids(byName.body.json.data));
    }),
    { numRuns },
  );
});

test("walking by cursors, forwards or backwards, meets every row once", async () => {
  const [ann] = users as [User];
  const ids = async (argument: "first" | "last", from: "after" | "before", cursor: "endCursor" | "startCursor") => {
    const met: number[] = [];
    for (let place: string | null = null; ; ) {
      const answer = await ask(
        ann,
        `query ($from: Cursor) { notes(${argument}: 7, ${from}: $from) { nodes { id } pageInfo { ${cursor} } } }`,
        { from: place },
      );
      const page = answer.data.notes.nodes.map(({ id }: { id: number }) => id);
      if (page.length === 0) return met;
      met.push(...(argument === "first" ? page : page.reverse()));
      place = answer.data.notes.pageInfo[cursor];
    }
  };
  const forwards = await ids("first", "after", "endCursor");
  expect(forwards).toHaveLength(45);
  expect(await ids("last", "before", "startCursor")).toEqual(forwards.reverse());
});

test("a page is of the default size unless said otherwise, and never larger than the resource allows", async () => {
  const [ann] = users as [User];
  const sizes = await ask(
    ann,
    `{ default: articles { nodes { id } } most: notes(first: 5000) { nodes { id } } last: notes(last: 3) { nodes { id } }
       null: notes(first: null) { nodes { id } } }`,
  );
  const count = (name: string) => sizes.data[name].nodes.length;
  expect([count("default"), count("most"), count("last"), count("null")]).toEqual([20, 45, 3, 20]);
  await db.sql("insert into notes (user_id, title) select $1, 'more' from generate_series(1, 60)", [ann.id]);
  const more = await ask(
    ann,
    "{ first: notes(first: 5000) { nodes { id } } last: notes(last: 5000) { nodes { id } } }",
  );
  expect([more.data.first.nodes.length, more.data.last.nodes.length]).toEqual([100, 100]);
  await db.sql("delete from notes where title = 'more'");
  const negative = await ask(ann, "{ notes(first: -1) { nodes { id } } }");
  expect(negative.errors[0].extensions.code).toBe("VALIDATION_FAILED");
});

test("relations lead to the rows that the caller may see, and to no others", async () => {
  const [ann, ben] = users as [User, User];
  const query = "{ articles(first: 5) { nodes { id samplesByAUuid { totalCount nodes { aText userId } } } } }";
  for (const user of [ann, ben]) {
    const { data, errors } = await ask(user, query);
    expect(errors).toEqual([]);
    for (const { samplesByAUuid } of data.articles.nodes) {
      expect(samplesByAUuid.nodes.map(({ userId }: { userId: string }) => userId)).toEqual([user.id]);
      expect(samplesByAUuid.totalCount).toBe(1);
    }
  }
  // The articles are public, the samples for signed-in users.
  const anonymous = await ask(null, query);
  expect(anonymous.errors[0].extensions.code).toBe("UNAUTHORIZED");
  expect(JSON.stringify(anonymous.data)).not.toContain("private");
});

test("a row that was softly deleted is nowhere: not by its id, not behind another row", async () => {
  const [ann] = users as [User];
  const [gone] = await db.sql<{ id: string }>("select id from articles where deleted_at is not null limit 1");
  await db.sql("update samples set a_uuid = $1 where id = (select id from samples where user_id = $2 limit 1)", [
    gone?.id,
    ann.id,
  ]);
  const { data } = await ask(
    ann,
    `{ article(id: "${gone?.id}") { id } samples(first: 100) { nodes { aUuid articleByAUuid { id } } } }`,
  );
  expect(data.article).toBeNull();
  const rows = data.samples.nodes as { aUuid: string; articleByAUuid: object | null }[];
  expect(rows.filter(({ articleByAUuid }) => articleByAUuid === null).map(({ aUuid }) => aUuid)).toEqual([gone?.id]);
});
