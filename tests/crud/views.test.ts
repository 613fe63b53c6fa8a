// If this file fails, a list of a view shows rows that the policies of its tables hide, or does not follow their changes.
import { sql } from "drizzle-orm";
import { integer, numeric, pgMaterializedView, pgTable, pgView, serial, text } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, openRls, ownerRls } from "../../src/index.ts";
import { writeMigration } from "../../src/migrate/generate/schema-migration.ts";
import { emptySnapshot, takeSnapshot } from "../../src/migrate/generate/schema-snapshot.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, TestService, type User } from "../support/service.ts";
import { heard, sockets } from "../support/sockets.ts";

const shops = pgTable("shops", { id: serial("id").primaryKey(), name: text("name").notNull() }, () =>
  openRls({ read: "anyone", write: "authenticated" }),
);
const orders = pgTable(
  "orders",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    shopId: integer("shop_id").notNull(),
    total: numeric("total").notNull(),
  },
  (t) => ownerRls(t.userId),
);
/** One row for each shop in which the caller has ordered. */
const spending = pgView("spending", {
  id: integer("id").primaryKey(),
  shopId: integer("shop_id").references(() => shops.id),
  name: text("name"),
  orders: integer("orders"),
  total: numeric("total"),
})
  .with({ securityInvoker: true })
  .as(sql`
    select s.id, s.id as shop_id, s.name, count(*)::integer as orders, sum(o.total) as total
      from shops s join orders o on o.shop_id = s.id group by s.id`);
/** Of tables that visitors read. */
const counters = pgView("counters", { id: integer("id").primaryKey(), name: text("name") })
  .with({ securityInvoker: true })
  .as(sql`select id, upper(name) as name from shops`);
const schema = { shops, orders, spending, counters };

const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>(), schema);
const procedures = {
  shops: createCrud(shops),
  orders: createCrud(orders),
  spending: createCrud(spending, {
    allowedFilters: ["orders", "total", "name"],
    searchFields: ["name"],
    include: ["shop"],
    aggregate: { measures: ["count", "sum:total"] },
    transfer: { export: true },
  }),
  counters: createCrud(counters, { allowAnonymous: true }),
  open: createCrud(spending, { prefix: "open_spending", allowAnonymous: true, graphql: false }),
};

const db = database();
const api = apiWith({ procedures });
const running = new TestService(db, api, {}, schema);
const connect = sockets(running);
let ann: User;
let bob: User;

beforeAll(async () => {
  const migration = await writeMigration(await emptySnapshot(), await takeSnapshot({ schema, auth: {} }, null), {
    renames: [],
    drops: [],
  });
  await db.sql(migration ?? "");
  for (const crud of api["~svc"].crud.filter(({ table }) => table in schema)) await db.sql(crudFile(crud));
  await db.sql(realtimeFile(followedTables(api, schema)));
  await running.start();
  [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
  await db.sql("insert into shops (name) values ('Bakery'), ('Kiosk'), ('Nobody')");
  await db.sql(
    "insert into orders (user_id, shop_id, total) values ($1, 1, 2.50), ($1, 1, 3), ($1, 2, 7), ($2, 2, 100)",
    [ann.id, bob.id],
  );
});
afterAll(() => running.stop());

const ask = async (user: User, name: string, args?: object) => {
  const { status, body } = await running.query(user, name, args);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.json;
};

describe("a resource of a view", () => {
  test("is for visitors where all of its tables are", async () => {
    const upper = [{ name: "BAKERY" }, { name: "KIOSK" }, { name: "NOBODY" }];
    const list = await running.query(null, "counters.list", { orderBy: "name", orderDir: "asc" });
    expect(list).toMatchObject({ status: 200, body: { json: { data: upper, total: 3 } } });
    expect(await running.query(null, "counters.get", { id: 2 })).toMatchObject({ body: { json: { name: "KIOSK" } } });
    for (const args of [{}, { orderBy: "name" }])
      expect(await running.query(null, "open_spending.list", args)).toMatchObject({ status: 401 });
    expect((await ask(ann, "open_spending.list")).total).toBe(2);

    const graphql = async (name: string) => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ query: `{ ${name} { nodes { name } } }` });
      return (await running.fetch("/api/graphql", { method: "POST", headers, body })).body;
    };
    expect((await graphql("counters")).data.counters.nodes).toEqual(upper.toReversed());
    expect((await graphql("spendings")).errors).toMatchObject([{ extensions: { code: "UNAUTHORIZED" } }]);
  });

  test("lists, finds, filters, searches and counts what its caller may see", async () => {
    const all = await ask(ann, "spending.list", { orderBy: "name", orderDir: "asc" });
    expect(all).toEqual({
      data: [
        { id: 1, shopId: 1, name: "Bakery", orders: 2, total: "5.50" },
        { id: 2, shopId: 2, name: "Kiosk", orders: 1, total: "7" },
      ],
      total: 2,
    });
    expect((await ask(bob, "spending.list")).data).toEqual([
      { id: 2, shopId: 2, name: "Kiosk", orders: 1, total: "100" },
    ]);
    expect(await ask(ann, "spending.list", { filters: { orders: { op: "gte", value: 2 } } })).toMatchObject({
      total: 1,
    });
    expect(await ask(ann, "spending.list", { search: "kio" })).toMatchObject({ data: [{ id: 2 }], total: 1 });
    const first = await ask(ann, "spending.list", { limit: 1, cursor: null });
    const second = await ask(ann, "spending.list", { limit: 1, cursor: first.nextCursor });
    expect([...first.data, ...second.data].map(({ id }) => id).sort()).toEqual([1, 2]);
    expect(await ask(bob, "spending.get", { id: 1 })).toBeNull();
    expect(await ask(ann, "spending.get", { id: 1, select: ["name"] })).toEqual({ name: "Bakery" });
    expect(await ask(ann, "spending.aggregate", { measures: ["count", "sum:total"] })).toMatchObject({
      data: [{ count: 2, "sum:total": "12.50" }],
    });
  });

  test("includes what its columns refer to", async () => {
    const [row] = (await ask(ann, "spending.list", { select: ["orders"], include: { shop: true }, limit: 1 })).data;
    expect(row).toEqual({ orders: 1, shop: { id: 2, name: "Kiosk" } });
  });

  test("is exported, and is in GraphQL", async () => {
    const file = await running.fetch("/api/export/spending.csv", { headers: bearer(bob) });
    expect([file.status, file.body]).toEqual([200, expect.stringMatching(/Kiosk/)]);
    expect(file.body).not.toMatch(/Bakery/);
    const { body } = await running.fetch("/api/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(ann) },
      body: JSON.stringify({ query: "{ spendings { nodes { name orders } } }" }),
    });
    expect(body).toEqual({ data: { spendings: { nodes: expect.arrayContaining([{ name: "Bakery", orders: 2 }]) } } });
  });

  test("who watches it hears of changes of its tables, those of others left out", async () => {
    const { body } = await running.fetch("/api/query", {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(ann) },
      body: JSON.stringify({ name: "spending.list", watch: true }),
    });
    const socket = await connect(ann);
    socket.send({ type: "subscribe", query: "spending.list", follows: body.follows });
    await socket.wait({ type: "subscribed", query: "spending.list" });
    const changed = expect.objectContaining({ type: "invalidate", queries: ["spending.list"] });
    await db.sql("insert into orders (user_id, shop_id, total) values ($1, 1, 1)", [bob.id]);
    expect(await heard(socket, db)).toEqual([]);
    await db.sql("insert into orders (user_id, shop_id, total) values ($1, 3, 1)", [ann.id]);
    expect(await heard(socket, db)).toEqual([changed]);
    await db.sql("update shops set name = 'Baker' where id = 1");
    expect(await heard(socket, db)).toEqual([changed]);
  });
});

describe("createCrud refuses", () => {
  const columns = { id: integer("id").primaryKey() };
  const view = () => pgView("v", columns);
  const rows = sql`select 1 as id`;
  test.each<[string, () => unknown, RegExp]>([
    ["a view with the rights of its owner", () => view().as(rows), /"v" does not say that it has security_invoker/],
    ["a view that only exists", () => view().existing(), /security_invoker/],
    ["a materialized view", () => pgMaterializedView("m", columns).as(rows), /materialized view/],
    [
      "a view without declared columns",
      () =>
        pgView("q")
          .with({ securityInvoker: true })
          .as((qb) => qb.select({ id: shops.id }).from(shops)),
      /columns of the view "q" are not declared/,
    ],
    [
      "a view without an id",
      () =>
        pgView("n", { a: text("a") })
          .with({ securityInvoker: true })
          .as(rows),
      /must have an id/,
    ],
    ["what is neither", () => ({}), /takes a table or a view/],
  ])("%s", (_what, source, message) => {
    expect(() => createCrud(source() as never)).toThrow(message);
  });

  test.each([
    [{ methods: ["list", "create"] }, /the method "create" is not for a view/],
    [{ many: true }, /many is not for a view/],
    [{ transfer: { import: true } }, /transfer\.import is not for a view/],
    [{ softDelete: { field: "id" } }, /softDelete is not for a view/],
  ])("%o", (options, message) => {
    expect(() => createCrud(spending, options as never)).toThrow(message);
  });
});
