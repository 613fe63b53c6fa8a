// If this file fails, a value of some column type is stored as another one, is answered in a form that its column does not
// take, or is skipped or repeated by a cursor.
import { getTableColumns } from "drizzle-orm";
import {
  bit,
  customType,
  integer,
  interval,
  line,
  pgTable,
  point,
  real,
  serial,
  text,
  time,
  timestamp,
} from "drizzle-orm/pg-core";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { type Conversions, convertRows } from "../../client/sdk/src/rows.ts";
import { describeColumns } from "../../src/crud/columns.ts";
import type { CrudFilters } from "../../src/crud/crud-filters.ts";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { rowSchema } from "../../src/crud/openapi-columns.ts";
import { createCrudFactory, defineApi, openRls } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

const own = (type: string) => customType<{ data: string }>({ dataType: () => type });
const bytea = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
const kinds = pgTable(
  "kinds",
  {
    id: serial("id").primaryKey(),
    at: timestamp("at"),
    stamps: timestamp("stamps").array(),
    files: bytea("files").array(),
    small: own("small")("small"),
    exact: own("exact")("exact"),
    flag: own("flag")("flag"),
    list: own("list")("list"),
    pair: own("pair")("pair"),
    pairs: own("pair")("pairs").array(),
    wide: own("int8")("wide"),
    words: own("text[]")("words"),
    matrix: integer("matrix").array().array(),
    names: text("names").array().array(),
    place: point("place"),
    spot: point("spot", { mode: "xy" }),
    border: line("border"),
    edge: line("edge", { mode: "abc" }),
    ratio: real("ratio"),
    bits: bit("bits", { dimensions: 3 }),
    code: own("character(3)")("code"),
    path: own("jsonpath")("path"),
    alarm: time("alarm", { precision: 3 }),
    pause: interval("pause", { precision: 3 }),
  },
  () => openRls({ read: "anyone", write: "anyone" }),
);
const createCrud = createCrudFactory(procedure);
const crud = createCrud(kinds, {
  allowAnonymous: true,
  many: true,
  allowedFilters: ["small", "exact", "flag", "list", "pair", "pairs", "place", "spot", "border", "edge"],
  aggregate: { groupBy: ["exact", "pair"], measures: ["count"] },
});
const seen: unknown[] = [];
const hooked = createCrud(kinds, {
  prefix: "hooked",
  allowAnonymous: true,
  hooks: {
    beforeCreate(data) {
      seen.push(data);
      return data;
    },
  },
});

const db = database();
beforeAll(() =>
  db.sql(`
    create domain small as integer check (value > 0); create domain exact as numeric; create domain flag as boolean;
    create domain list as integer[]; create type pair as (number integer, name text);
    create table kinds (id serial primary key, at timestamp, stamps timestamp[], files bytea[], small small, exact exact, flag flag,
      list list, pair pair, pairs pair[], wide int8, words text[], matrix integer[][], names text[][], place point, spot point,
      border line, edge line, ratio real, bits bit(3), code character(3), path jsonpath, alarm time(3), pause interval(3));
    alter table kinds enable row level security;
    create policy all_anyone on kinds to svc_anonymous, svc_authenticated using (true);
    grant all on kinds, kinds_id_seq to svc_anonymous, svc_authenticated;
    ${defineApi({ procedures: { crud, hooked } })["~svc"].crud.map(crudFile).join("\n")}`),
);
const svc = service(db, apiWith({ procedures: { kinds: crud, hooked } }));
const call = async (operation: string, args: object) => {
  const kind = ["list", "get", "aggregate"].includes(operation) ? "query" : "mutate";
  const { status, body } = await svc[kind](null, `kinds.${operation}`, args);
  return { status, json: body.json, issues: body.issues };
};

/** The property, what comes in, what goes out, and what PostgreSQL has. */
const values: [property: string, input: unknown, wire: unknown, stored: string][] = [
  ["at", "10000-01-01T12:00:00+05:00", "10000-01-01T07:00:00+00:00", "10000-01-01 07:00:00"],
  ["stamps", ["2026-01-01T12:00:00+05:00", null], ["2026-01-01T07:00:00+00:00", null], '{"2026-01-01 07:00:00",NULL}'],
  ["stamps", [], [], "{}"],
  ["files", ["AAECAw==", null, ""], ["AAECAw==", null, ""], '{"\\\\x00010203",NULL,"\\\\x"}'],
  ["files", [], [], "{}"],
  ["small", "5", "5", "5"],
  ["exact", "12345678901234567890.5", "12345678901234567890.5", "12345678901234567890.5"],
  ["flag", "true", "true", "true"],
  ["list", "{1,2}", "{1,2}", "{1,2}"],
  ["pair", '(1,"a b")', '(1,"a b")', '(1,"a b")'],
  ["pairs", ['(1,"a b")', null], ['(1,"a b")', null], '{"(1,\\"a b\\")",NULL}'],
  ["wide", "9223372036854775807", "9223372036854775807", "9223372036854775807"],
  ["words", ["a,b", "{}", null], ["a,b", "{}", null], '{"a,b","{}",NULL}'],
  [
    "matrix",
    [
      [1, 2],
      [3, null],
    ],
    [
      [1, 2],
      [3, null],
    ],
    "{{1,2},{3,NULL}}",
  ],
  ["names", [["a"], ["b"]], [["a"], ["b"]], "{{a},{b}}"],
  ["place", [1.5, -2], "(1.5,-2)", "(1.5,-2)"],
  ["place", "(1.5,-2)", "(1.5,-2)", "(1.5,-2)"],
  ["spot", { x: 1.5, y: -2 }, "(1.5,-2)", "(1.5,-2)"],
  ["border", [1, 2, 3], "{1,2,3}", "{1,2,3}"],
  ["edge", { a: 1, b: 2, c: 3 }, "{1,2,3}", "{1,2,3}"],
];

describe.for(values)("%s: %j", ([property, input, wire, stored]) => {
  test("is stored as such, and answered in a form that the column takes", async () => {
    const made = await call("create", { [property]: input });
    expect(made).toMatchObject({ status: 200, json: { [property]: wire } });
    const { id } = made.json;
    expect(await db.sql(`select ${property}::text as stored from kinds where id = ${id}`)).toEqual([{ stored }]);
    expect(await call("update", { id, [property]: made.json[property] })).toEqual(made);
    expect(await call("get", { id })).toEqual(made);
    const many = await call("createMany", { rows: [{ [property]: input }, {}] });
    expect(many.json.data).toMatchObject([{ [property]: wire }, { [property]: null }]);
    const found = await call("list", { orderBy: "id", limit: 2 });
    expect(found.json.data.toReversed()).toEqual(many.json.data);
  });
});

test("a point or a line is found by its text, as answers show it", async () => {
  await db.sql("truncate kinds");
  const row = { place: [1.5, -2], spot: { x: 1, y: 2 }, border: [1, 2, 3], edge: { a: 1, b: 2, c: 3 } };
  await call("createMany", { rows: [row, {}] });
  type Filters = CrudFilters<typeof kinds>;
  const filters: Filters[] = [
    { place: "(1.5,-2)" },
    { spot: { op: "in", value: ["(1,2)"] } },
    { border: "{1,2,3}" },
    { edge: { op: "ne", value: null } },
  ];
  for (const one of filters)
    expect((await call("list", { filters: one })).json.data, JSON.stringify(one)).toHaveLength(1);
  // @ts-expect-error the service would ignore it
  const ignored: Filters = { place: [1.5, -2] };
  expect((await call("list", { filters: ignored })).json.data).toHaveLength(2);
});

test("updateMany stores arrays like create", async () => {
  await db.sql("truncate kinds");
  await call("createMany", { rows: [{}, {}] });
  const set = { stamps: ["2026-01-01T12:00:00+05:00"], files: ["AAE="] };
  expect(await call("updateMany", { filters: {}, set, max: 2 })).toMatchObject({ json: { count: 2 } });
  expect(await db.sql("select distinct stamps::text, files::text from kinds")).toEqual([
    { stamps: '{"2026-01-01 07:00:00"}', files: '{"\\\\x0001"}' },
  ]);
});

test.for([
  ["matrix", [1], ["matrix", 0]],
  ["matrix", [[1, "x"]], ["matrix", 0, 1]],
  ["matrix", [[1, 2], [3]], ["matrix"]],
  ["place", [1], ["place"]],
  ["spot", { x: "a" }, ["spot"]],
] as const)("%s: %j is refused with its path", async ([property, value, path]) => {
  expect(await call("create", { [property]: value })).toMatchObject({ status: 400, issues: [{ path }] });
});

test.for([
  ["bits", ["101", "010", "011", "110", "100"]],
  ["code", ["abc", "abd", "b", "acd", "a"]],
] as const)("a cursor by %s neither skips nor repeats rows", async ([orderBy, rows]) => {
  await db.sql("truncate kinds");
  await call("createMany", { rows: rows.map((value) => ({ [orderBy]: value })) });
  for (const orderDir of ["asc", "desc"]) {
    const all = (await call("list", { orderBy, orderDir })).json.data;
    const walked: unknown[] = [];
    for (let cursor: string | null = null, page = 0; page < rows.length && (page === 0 || cursor); page++) {
      const { json } = await call("list", { orderBy, orderDir, limit: 2, cursor });
      walked.push(...json.data);
      cursor = json.nextCursor;
    }
    expect(walked).toEqual(all);
  }
});

// `is null` is true for a composite value whose members are all null: the cursor met such rows again and again.
test("composite values whose members are null are values", async () => {
  await db.sql("truncate kinds restart identity");
  const pairs = ["(,)", "(,)", "(1,)", null, "(,)", null, "(2,b)"];
  await call("createMany", { rows: pairs.map((pair) => ({ pair })) });
  const ids = async (args: object) =>
    (await call("list", { orderBy: "pair", orderDir: "asc", ...args })).json.data.map(({ id }: { id: number }) => id);
  for (const orderDir of ["asc", "desc"]) {
    const walked: number[] = [];
    for (let cursor: string | null = null, page = 0; page < 9 && (page === 0 || cursor); page++) {
      const { json } = await call("list", { orderBy: "pair", orderDir, limit: 1, cursor });
      walked.push(json.data[0].id);
      cursor = json.nextCursor;
    }
    expect(walked).toEqual(await ids({ orderDir }));
  }
  expect((await ids({ filters: { pair: null } })).sort()).toEqual([4, 6]);
  expect((await ids({ filters: { pair: { op: "ne", value: null } } })).sort()).toEqual([1, 2, 3, 5, 7]);
  expect((await ids({ filters: { pair: { op: "in", value: [null, "(2,b)"] } } })).sort()).toEqual([4, 6, 7]);
  expect((await ids({ filters: { pair: { op: "nin", value: [null, "(2,b)"] } } })).sort()).toEqual([1, 2, 3, 5]);
});

test("a filter compares with the text of the answers", async () => {
  await db.sql("truncate kinds restart identity");
  const plain = { small: "5", exact: "12345678901234567890.5", flag: "true", list: "{1,2}", pair: '(1,"a b")' };
  const row = { ...plain, pairs: ['(1,"a b")', null] };
  await call("createMany", { rows: [row, { small: "6", pairs: [] }] });
  for (const [property, value] of Object.entries(row)) {
    const { json } = await call("list", { filters: { [property]: value } });
    expect({ property, data: json.data }).toMatchObject({ property, data: [{ id: 1, ...row }] });
  }
});

test("an aggregate groups by domains and composite values in the form of a list", async () => {
  await db.sql("truncate kinds");
  const row = { exact: "12345678901234567890.50", pair: '(1,"a b")' };
  await call("create", row);
  const { json } = await call("aggregate", { groupBy: ["exact", "pair"], measures: ["count"] });
  expect(json.data).toEqual([{ ...row, count: 1 }]);
});

// A hook got an invalid date for each time without a zone, and texts in the place of dates in arrays.
test.for([
  ["2026-01-01T12:00:00Z", "2026-01-01T12:00:00Z"],
  ["2026-01-01 12:00:00+0530", "2026-01-01T06:30:00Z"],
  ["2026-01-01T12:00", "2026-01-01T12:00:00Z"],
  ["2026-01-01", "2026-01-01T00:00:00Z"],
  ["12026-01-01T12:00+02", "+012026-01-01T10:00:00Z"],
] as const)("a hook gets the times %s as dates, and what it returns is stored", async ([text, time]) => {
  vi.stubEnv("TZ", "America/New_York");
  const { status, body } = await svc.mutate(null, "hooked.create", { at: text, stamps: [text, null], place: "(1,2)" });
  vi.unstubAllEnvs();
  const at = new Date(time);
  expect(seen.at(-1)).toEqual({ at, stamps: [at, null], place: [1, 2] });
  expect({ status, at: convertRows(body.json, { at: "date" }, "a.get") }).toMatchObject({ status: 200, at: { at } });
});

test("a column without an order is no error", async () => {
  expect((await call("list", { orderBy: "path" })).status).toBe(200);
});

test("clients get the values that the schema declares", async () => {
  await db.sql("truncate kinds");
  await db.sql(`insert into kinds (at, stamps, files, ratio, place, spot, border, edge) values
    ('10000-01-01', '{2026-01-01}', '{"\\\\x01"}', 'NaN', '(1,2)', '(1,2)', '{1,2,3}', '{1,2,3}'), (null, null, null, '-Infinity', null, null, null, null)`);
  const conversions = Object.fromEntries(
    describeColumns(kinds).flatMap(({ property, conversion }) => (conversion ? [[property, conversion]] : [])),
  ) as Conversions;
  const page = (await call("list", { orderBy: "id", orderDir: "asc" })).json;
  expect((convertRows(page, conversions, "kinds.list") as { data: unknown[] }).data).toMatchObject([
    {
      at: new Date("+010000-01-01T00:00:00Z"),
      stamps: [new Date("2026-01-01T00:00:00Z")],
      files: [Uint8Array.of(1)],
      ratio: Number.NaN,
      place: [1, 2],
      spot: { x: 1, y: 2 },
      border: [1, 2, 3],
      edge: { a: 1, b: 2, c: 3 },
    },
    { at: null, stamps: null, files: null, ratio: Number.NEGATIVE_INFINITY, place: null, spot: null },
  ]);
});

test("the OpenAPI document limits only the length of texts and bits", () => {
  const schemas = Object.fromEntries(describeColumns(kinds).map((column) => [column.property, rowSchema(column)]));
  expect(Object.keys(schemas)).toEqual(Object.keys(getTableColumns(kinds)));
  expect(schemas).toMatchObject({
    alarm: { type: ["string", "null"] },
    bits: { maxLength: 3 },
    code: { maxLength: 3 },
    matrix: { type: ["array", "null"], items: { type: "array", items: { type: ["integer", "null"] } } },
  });
  for (const property of ["alarm", "pause"]) expect(schemas[property]).not.toHaveProperty("maxLength");
});
