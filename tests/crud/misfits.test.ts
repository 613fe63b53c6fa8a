// If this file fails, an error about a value that its column's type refuses does not name the field.
import {
  bit,
  cidr,
  customType,
  inet,
  interval,
  macaddr,
  pgTable,
  serial,
  text,
  time,
  varchar,
} from "drizzle-orm/pg-core";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, defineApi, openRls } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

const of = (type: string) => customType<{ data: string }>({ dataType: () => type });
const shifts = pgTable(
  "shifts",
  {
    id: serial("id").primaryKey(),
    name: text("name").notNull(),
    startsAt: time("starts_at"),
    lasts: interval("lasts"),
    address: inet("address"),
    network: cidr("network"),
    device: macaddr("device"),
    bits: of("bit(3)")("bits"),
    pay: of("money")("pay"),
    hours: of("int4range")("hours"),
    place: of("point")("place"),
    report: of("xml")("report"),
    words: of("tsvector")("words"),
    query: of("tsquery")("query"),
    pauses: interval("pauses").array(),
    code: of("shift_code")("code"),
    tag: varchar("tag", { length: 3 }),
    source: of("regclass")("source"),
    marks: of("hstore")("marks"),
  },
  () => openRls({ read: "anyone", write: "anyone" }),
);
const keyed = pgTable(
  "keyed",
  { id: inet("id").primaryKey(), name: text("name"), flags: bit("flags", { dimensions: 3 }).unique() },
  () => openRls({ read: "anyone", write: "anyone" }),
);
const createCrud = createCrudFactory(procedure);
const anyone = { allowAnonymous: true } as const;
const crud = {
  shifts: createCrud(shifts, anyone),
  hooked: createCrud(shifts, { ...anyone, prefix: "hooked", hooks: { beforeCreate: (data) => data } }),
  keyed: createCrud(keyed, { ...anyone, methods: ["get", "update", "remove"], getBy: ["flags"] }),
};

const db = database();
beforeAll(() =>
  db.sql(`
    create extension hstore schema extensions;
    create domain shift_code as text check (value like 'S%');
    create table shifts (id serial primary key, name text not null check (name <> 'nobody'), starts_at time, lasts interval,
      address inet, network cidr, device macaddr, bits bit(3), pay money, hours int4range, place point, report xml,
      words tsvector, query tsquery, pauses interval[], code shift_code, tag varchar(3),
      source regclass, marks extensions.hstore);
    create table keyed (id inet primary key, name text, flags bit(3) unique);
    alter table shifts enable row level security; alter table keyed enable row level security;
    create policy all_anyone on shifts to svc_anonymous, svc_authenticated using (true);
    create policy all_anyone on keyed to svc_anonymous, svc_authenticated using (true);
    grant all on shifts, keyed, shifts_id_seq to svc_anonymous, svc_authenticated;
    ${defineApi({ procedures: crud })["~svc"].crud.map(crudFile).join("\n")}`),
);
const svc = service(db, apiWith({ procedures: crud }));

const right = {
  name: "Ann",
  ...{ startsAt: "08:00", lasts: "2 hours", address: "10.0.0.1", network: "10.0.0.0/8", device: "08:00:2b:01:02:03" },
  ...{ bits: "101", pay: "12.50", hours: "[8,12)", place: "(1,2)", report: "<ok/>", words: "a b", query: "a & b" },
  ...{ pauses: ["5 minutes", null], code: "S1", tag: "abc", source: "pg_class", marks: "a=>1" },
};
const wrong: [keyof typeof right, unknown, type: string][] = [
  ["startsAt", "25:00", "time"],
  ["startsAt", "soon", "time"],
  ["lasts", "a while", "interval"],
  ["address", "300.1.1.1", "inet"],
  ["network", "10.0.0.1/8", "cidr"],
  ["device", "none", "macaddr"],
  ["bits", "2", "bit(3)"],
  ["pay", "much", "money"],
  ["hours", "[12,8)", "int4range"],
  ["place", "here", "point"],
  ["report", "<ok>", "xml"],
  ["words", "'a", "tsvector"],
  ["query", "a b", "tsquery"],
  ["pauses", ["5 minutes", "short"], "interval[]"],
  ["code", "T1", "shift_code"],
  ["source", "nothing", "regclass"],
  ["marks", "a", "hstore"],
];

const refused = (...of: [path: string, type: string][]) => ({
  status: 400,
  code: "VALIDATION_FAILED",
  issues: of.map(([path, type]) => ({ path: [path], message: `must be a value of the type ${type}` })),
});
const answer = async (name: string, args: object) => {
  const { status, body } = await svc[name.endsWith("get") ? "query" : "mutate"](null, name, args);
  return { status, code: body.code, issues: body.issues };
};

test.for(wrong)("%s: %j is refused with its path", async ([property, value, type]) => {
  expect(await answer("shifts.create", { ...right, [property]: value })).toEqual(refused([property, type]));
});

test("in a batch, with the place of the call", async () => {
  const calls = [right, { ...right, lasts: "a while" }].map((args) => ({ name: "shifts.create", args }));
  const { status, body } = await svc.post("/api/batch", { calls });
  const { code, issues, index } = body;
  expect({ status, code, issues, index }).toEqual({ ...refused(["lasts", "interval"]), index: 1 });
});

test("all of them at once, on update and past a hook; what fits is stored", async () => {
  const both = { ...right, lasts: "a while", address: "?" };
  const issues = refused(["lasts", "interval"], ["address", "inet"]);
  const { status, body } = await svc.mutate(null, "shifts.create", right);
  expect({ status, json: body.json }).toMatchObject({
    status: 200,
    json: { lasts: "02:00:00", pauses: ["00:05:00", null] },
  });
  expect(await answer("shifts.update", { id: body.json.id, lasts: "a while", address: "?" })).toEqual(issues);
  expect(await answer("hooked.create", both)).toEqual(issues);
  expect(await answer("hooked.create", right)).toMatchObject({ status: 200 });
});

test("an id that is none of its type is refused as such", async () => {
  for (const name of ["get", "update", "remove"]) {
    expect(await answer(`keyed.${name}`, { id: "{nowhere", name: "x" })).toEqual(refused(["id", "inet"]));
  }
  expect(await answer("keyed.get", { id: "10.0.0.1" })).toMatchObject({ status: 200 });
});

test("a key of bits finds no row whose bits it only begins with", async () => {
  await db.sql("insert into keyed (id, flags) values ('10.0.0.9', '101')");
  expect((await svc.query(null, "keyed.get", { flags: "101" })).body.json).toMatchObject({ id: "10.0.0.9" });
  expect((await svc.query(null, "keyed.get", { flags: "1011" })).body.json).toBeNull();
});

test("a list that is to be sorted by a type without an order has its own order", async () => {
  await db.sql("insert into shifts (name, marks) values ('x', 'a=>1'), ('y', 'a=>2')");
  const args = { orderBy: "marks", cursor: null, limit: 1 };
  const { nextCursor } = (await svc.query(null, "shifts.list", args)).body.json;
  expect(await svc.query(null, "shifts.list", { ...args, cursor: nextCursor })).toMatchObject({ status: 200 });
});

test("what breaks a rule of the table instead keeps its answer", async () => {
  expect(await answer("shifts.create", { ...right, name: "nobody" })).toEqual({ status: 400, code: "BAD_REQUEST" });
  // In development, authors learn which rule it is.
  const { body } = await svc.mutate(null, "shifts.create", { ...right, name: "nobody" });
  expect(body.hint).toMatch(/^It violates the constraint "shifts_\w+" of public\.shifts; /);
});

test("a domain that is NOT NULL makes no misfits of the values of other columns", async () => {
  await db.sql(
    "create domain rate as numeric not null check (value > 0); create table priced (title text, lasts interval, rate rate)",
  );
  const misfits = (data: object) =>
    db.sql("select svc.find_misfits('public', 'priced', $1) as names", [JSON.stringify(data)]);
  expect(await misfits({ title: "a", lasts: "soon" })).toEqual([{ names: ["lasts"] }]);
  expect(await misfits({ title: "a", lasts: "1 day", rate: -1 })).toEqual([{ names: ["rate"] }]);
});
