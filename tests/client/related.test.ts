// If this file fails, related rows reach the application with other types than api.ts says, or api.ts is stale.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { clientApi } from "../../src/codegen/client-api.ts";
import { exportedProcedures } from "../../src/codegen/exported.ts";
import { createSvcProcedureBuilders, defineApi } from "../../src/index.ts";
import { blogSql } from "../crud/blog.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { service } from "../support/service.ts";
import { api } from "../types/blog/api.ts";
import backend from "../types/blog/index.ts";

const db = database();
beforeAll(() => db.sql(blogSql));
const running = service(db, backend);

const folder = join(root, "tests/types/blog");

test("the file that the types are tested with is what codegen writes", async () => {
  expect(clientApi(backend, folder, join(folder, "index.ts"))).toBe(await readFile(join(folder, "api.ts"), "utf8"));
});

test("of a procedure that a module exports, it takes the type from that module", async () => {
  const lazy = join(root, "tests/types/lazy");
  const index = join(lazy, "index.ts");
  const { default: exporting } = await import("../types/lazy/index.ts");
  const text = clientApi(exporting, lazy, index, await exportedProcedures(index));
  expect(text).toBe(await readFile(join(lazy, "api.ts"), "utf8"));
});

// The first was taken for a name that is used twice, the second was left out.
test.for(["prices.valueOf", "constructor.list"])("a procedure may be named %s", (name) => {
  const named = createSvcProcedureBuilders()
    .query.name(name)
    .handler(() => 1);
  const [group, operation] = name.split(".");
  const text = clientApi(defineApi({ procedures: { named } }), folder, join(folder, "index.ts"));
  expect(text).toContain(`${group}: {\n    ${operation}: query("${name}")`);
  expect(text).toContain(`readonly ${operation}: QueryOf<Procedures["named"]>;`);
});

test("dates of related rows are Dates, at every depth", async () => {
  await db.sql(`
    insert into authors (handle, born_at) values ('ann', '1990-01-01'), ('bob', null);
    insert into blog_posts (slug, title, author_id) values ('one', 'The first', 1), ('two', 'The second', null);
    insert into follows values (2, 1)`);
  const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api, baseUrl: running.url, auth });
  const bornAt = new Date("1990-01-01T00:00:00Z");
  const { data } = await client.query(api.blog_posts.list, {
    orderBy: "id",
    orderDir: "asc",
    select: ["slug"],
    include: { author: { select: ["bornAt"], include: { followers: { include: { following: true } } } } },
  });
  expect(data).toMatchObject([
    { slug: "one", author: { bornAt, followers: [{ handle: "bob", bornAt: null, following: [{ bornAt }] }] } },
    { slug: "two", author: null },
  ]);
  const ann = await client.query(api.authors.get, { handle: "ann", include: { posts: { select: ["title"] } } });
  expect(ann).toEqual({ id: 1, handle: "ann", bornAt, posts: [{ title: "The first" }] });
  const { data: groups } = await client.query(api.authors.aggregate, {
    groupBy: ["bornAt:day"],
    measures: ["count", "max:bornAt"],
    filters: { posts: { some: { slug: "one" } } },
  });
  expect(groups).toEqual([{ "bornAt:day": "1990-01-01", count: 1, "max:bornAt": "1990-01-01T00:00:00+00:00" }]);
  client.close();
});
