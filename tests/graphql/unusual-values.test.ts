// If this file fails, GraphQL shows another value than the table has: a time without end as null, a year before Christ as one after.
import { customType, date, interval, json, jsonb, pgTable, serial, text, time, timestamp } from "drizzle-orm/pg-core";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { asker } from "./support.ts";

const own = (type: string) => customType<{ data: string }>({ dataType: () => type });
const moments = pgTable(
  "moments",
  {
    id: serial("id").primaryKey(),
    title: text("title"),
    at: timestamp("at", { withTimezone: true }),
    local: timestamp("local"),
    day: date("day"),
    clock: time("clock"),
    zoned: time("zoned", { withTimezone: true }),
    shifts: own("timetz[]")("shifts"),
    lasts: interval("lasts"),
    open: own("daterange")("open"),
    seats: own("int4range")("seats"),
    ats: timestamp("ats", { withTimezone: true }).array(),
    address: own("address")("address"),
    data: jsonb("data"),
    note: json("note"),
    notes: jsonb("notes").array(),
  },
  () => openRls({ read: "anyone", write: "anyone" }),
);
const procedures = {
  moments: createCrudFactory(createSvcProcedureBuilders())(moments, {
    allowAnonymous: true,
    allowedFilters: ["local", "day", "zoned"],
  }),
};
const api = defineApi({ procedures });
const db = database();
beforeAll(() =>
  db.sql(`
    create type address as (street text, number integer);
    create table moments (id serial primary key, title text, at timestamptz, local timestamp, day date, clock time, zoned timetz, shifts timetz[],
      lasts interval, open daterange, seats int4range, ats timestamptz[], address address, data jsonb, note json, notes jsonb[]);
    alter table moments enable row level security;
    create policy all_anyone on moments to svc_anonymous, svc_authenticated using (true);
    grant all on moments to svc_anonymous, svc_authenticated;
    insert into moments (id, at, local, day, clock, lasts, open, ats) values
      (1, 'infinity', '-infinity', '5874897-12-31', '24:00', '-5.5 s', '[-infinity,infinity]', '{infinity,NULL}'),
      (2, '0044-03-15 01:02:03.5+00 BC', '0044-03-15 01:02:03 BC', '0044-03-15 BC', '23:59', '1 day -00:00:05.5',
        '[0044-03-15 BC,)', '{0044-03-15 00:00:00+00 BC}'),
      (3, null, null, null, null, null, null, null);
    insert into moments (id, open, seats) values (4, 'empty', 'empty');
    insert into moments (id, data, note, notes) values
      (5, '{"a": [1e400]}', '-1e400', '{1e400}'), (6, '"1e400"', '1e300', '{1,"[\\"1e999\\"]"}');
    ${api["~svc"].crud.map(crudFile).join("\n")}`),
);
const ask = asker(service(db, api));

const infinite = { at: "infinity", local: "-infinity", day: "5874897-12-31" };
const ancient = { at: "0044-03-15T01:02:03.5+00:00 BC", local: "0044-03-15T01:02:03 BC", day: "0044-03-15 BC" };

test("infinite times and years before Christ are those of calls by name, also in plain documents", async () => {
  const plain = "id at local day";
  for (const more of ["", "edges { cursor }"]) {
    const { data, errors } = await ask(null, `{ moments(first: 4, orderBy: [ID_ASC]) { nodes { ${plain} } ${more} } }`);
    expect(errors).toEqual([]);
    const none = { at: null, local: null, day: null };
    const rows = [infinite, ancient, none, none].map((row, index) => ({ id: index + 1, ...row }));
    expect(data.moments.nodes).toEqual(rows);
  }
});

test("24:00, negative fractions of a second, bounds of ranges and items of arrays keep their values; null stays null", async () => {
  const range = "{ start { value } end { value } }";
  const fields = `clock lasts { days seconds } open ${range} ats`;
  const { data, errors } = await ask(
    null,
    `{ a: moment(id: 1) { ${fields} } b: moment(id: 2) { ${fields} } c: moment(id: 3) { ${fields} } }`,
  );
  expect(errors).toEqual([]);
  expect(data).toEqual({
    a: {
      clock: "24:00:00.000000",
      lasts: { days: 0, seconds: -5.5 },
      open: { start: { value: "-infinity" }, end: { value: "infinity" } },
      ats: ["infinity", null],
    },
    b: {
      clock: "23:59:00.000000",
      lasts: { days: 1, seconds: -5.5 },
      open: { start: { value: "0044-03-15 BC" }, end: null },
      ats: ["0044-03-15T00:00:00+00:00 BC"],
    },
    c: { clock: null, lasts: null, open: null, ats: null },
  });
});

test("an empty range is an error of its field, and not a range without bounds", async () => {
  const { data, errors } = await ask(null, "{ moment(id: 4) { id open { end { value } } seats { end { value } } } }");
  expect(data).toEqual({ moment: { id: 4, open: null, seats: null } });
  expect(errors.map(({ path, message }) => [path, message])).toEqual([
    [["moment", "open"], "GraphQL cannot represent an empty range."],
    [["moment", "seats"], "GraphQL cannot represent an empty range."],
  ]);
});

test("a number of JSON that is infinite in JavaScript is an error of its field, and the answer is JSON", async () => {
  const fields = "id data note notes";
  const { data, errors } = await ask(null, `{ moment(id: 5) { ${fields} } other: moment(id: 6) { ${fields} } }`);
  expect(data).toEqual({
    moment: { id: 5, data: null, note: null, notes: null },
    other: { id: 6, data: "1e400", note: 1e300, notes: [1, ["1e999"]] },
  });
  expect(errors.map(({ path, message }) => [path, message])).toEqual(
    ["data", "note", "notes"].map((name) => [["moment", name], "GraphQL cannot represent a number of this JSON."]),
  );
});

test("a time with an offset is compared in UTC, also with a column without zone", async () => {
  await db.sql("insert into moments (id, local, day) values (7, '12026-03-29 02:30:00.123456', '2026-03-30')");
  for (const condition of [
    '{ local: "12026-03-29T04:30:00.123456+02:00" }',
    '{ local: "12026-03-28 21:00:00.123456-0530" }',
    '{ local: "12026-03-29T02:30:00.123456Z" }',
    '{ day: "2026-03-29T23:59:59-05:00" }',
    '{ day: "2026-03-30" }',
  ]) {
    const { data, errors } = await ask(null, `{ moments(condition: ${condition}) { nodes { id } edges { cursor } } }`);
    expect([condition, data?.moments.nodes, errors]).toEqual([condition, [{ id: 7 }], []]);
  }
});

test("a time with an offset keeps it, also 24:00 and in arrays", async () => {
  const times = ["24:00:00+00", "24:00:00-05:30", "01:00:00+02", "23:59:59.500000+00:00"];
  for (const [index, time] of times.entries()) {
    const id = 20 + index;
    await db.sql("insert into moments (id, zoned, shifts) values ($1, $2, array[$2::timetz, null])", [id, time]);
    for (const more of ["", "edges { cursor }"]) {
      const question = `{ moments(condition: { zoned: "${time}" }) { nodes { id zoned shifts } ${more} } }`;
      const { data, errors } = await ask(null, question);
      expect([errors, data?.moments.nodes]).toEqual([[], [{ id, zoned: time, shifts: [time, null] }]]);
    }
  }
});
