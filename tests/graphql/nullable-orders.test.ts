// If this file fails, pages of GraphQL skip or repeat rows whose column of the order is null or equal, or a view has no pages.
import { sql } from "drizzle-orm";
import { boolean, integer, interval, pgTable, pgView, serial, text, timestamp } from "drizzle-orm/pg-core";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { asker } from "./support.ts";

const items = pgTable(
  "items",
  {
    id: serial("id").primaryKey(),
    done: boolean("done"),
    number: integer("number"),
    due: timestamp("due", { withTimezone: true }),
    lasts: interval("lasts"),
    code: text("code").unique(),
  },
  () => openRls({ read: "anyone", write: "anyone" }),
);
const copies = pgView("copies", {
  id: integer("id").primaryKey(),
  done: boolean("done"),
  number: integer("number"),
  due: timestamp("due", { withTimezone: true }),
  lasts: interval("lasts"),
  code: text("code"),
})
  .with({ securityInvoker: true })
  .as(sql`select * from items`);
const createCrud = createCrudFactory(createSvcProcedureBuilders());
const api = defineApi({
  procedures: {
    items: createCrud(items, { allowAnonymous: true }),
    copies: createCrud(copies, { allowAnonymous: true }),
  },
});
const db = database();
beforeAll(() =>
  db.sql(`
    create table items (id serial primary key, done boolean, number integer, due timestamptz, lasts interval, code text unique);
    alter table items enable row level security;
    create policy all_anyone on items to svc_anonymous, svc_authenticated using (true);
    grant all on items to svc_anonymous, svc_authenticated;
    insert into items (done, number, due, lasts, code)
      select case n % 3 when 0 then null else n % 3 = 1 end, case when n % 2 = 0 then n % 5 - 2 end,
             case n % 4 when 0 then 'infinity' when 1 then '0044-03-15 BC'::timestamptz when 2 then '2026-01-01Z'::timestamptz + n * interval '1 us' end,
             case when n % 3 = 0 then n * interval '-1.5 s' end, case when n % 2 = 1 then 'c' || n end
        from generate_series(1, 29) as n;
    create view copies with (security_invoker) as select * from items;
    grant select on copies to svc_anonymous, svc_authenticated;
    ${api["~svc"].crud.map(crudFile).join("\n")}`),
);
const ask = asker(service(db, api));

const orders = ["DONE", "NUMBER", "DUE", "LASTS", "CODE"].flatMap((name) => [`${name}_ASC`, `${name}_DESC`]);

const cases = ["items", "copies"].flatMap((list) => orders.map((order) => [list, order] as const));
test.each(cases)("%s by %s: pages have every row once, in the order of the list", async (list, order) => {
  const ids = (nodes: { id: number }[]) => nodes.map(({ id }) => id);
  const all = await ask(null, `{ ${list}(first: 100, orderBy: [${order}]) { nodes { id } edges { cursor } } }`);
  for (const [argument, from, cursor] of [
    ["first", "after", "endCursor"],
    ["last", "before", "startCursor"],
  ]) {
    const found: number[] = [];
    for (let place = ""; found.length < 40; ) {
      const { data, errors } = await ask(
        null,
        `{ ${list}(${argument}: 4, ${place} orderBy: [${order}]) { nodes { id } pageInfo { ${cursor} } } }`,
      );
      expect(errors).toEqual([]);
      const page = ids(data[list].nodes);
      if (page.length === 0) break;
      if (argument === "first") found.push(...page);
      else found.unshift(...page);
      place = `${from}: "${data[list].pageInfo[cursor ?? ""]}",`;
    }
    expect(found).toEqual(ids(all.data[list].nodes));
  }
  const found: number[] = [];
  for (let offset = 0; offset < 29; offset += 6) {
    const { data } = await ask(null, `{ ${list}(first: 6, offset: ${offset}, orderBy: [${order}]) { nodes { id } } }`);
    found.push(...ids(data[list].nodes));
  }
  expect(found).toEqual(ids(all.data[list].nodes));
  const [name = "", direction = ""] = order.toLowerCase().split("_");
  const rows = await db.sql<{ at: string | null }>(
    `select ${name}::text as at from items order by ${name} ${direction}, id`,
  );
  const byId = new Map(
    (await db.sql<{ id: number; at: string }>(`select id, ${name}::text as at from items`)).map((row) => [
      row.id,
      row.at,
    ]),
  );
  expect(ids(all.data[list].nodes).map((id) => byId.get(id))).toEqual(rows.map(({ at }) => at));
});
