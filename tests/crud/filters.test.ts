// If this file fails, a filtered list shows rows that were not asked for, hides rows that were, or answers an error.
import { describe, expect, expectTypeOf, test } from "vitest";
import type { CrudFilters } from "../../src/define/crud-filters.ts";
import type { samples } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { filterTable } from "./filter-table.ts";

const db = database();
const find = filterTable(db);

const everything = [1, 2, 3, 4, 5, 9];
/** Ids of the rows that a filter finds; given as a value, or as JSON text where JavaScript has no such value. */
async function idsOf(filters: unknown): Promise<number[]> {
  const [found] = await find([typeof filters === "string" ? filters : JSON.stringify(filters)]);
  expect(found?.error).toBeNull();
  return found?.ids ?? [];
}

type Case = [filters: unknown, ids: number[]];
const cases = (list: Case[]) => list.map(([filters, ids]) => ({ filter: toText(filters), filters, ids }));
const toText = (filters: unknown) => (typeof filters === "string" ? filters : JSON.stringify(filters)).slice(0, 120);
/** `value` inside so many groups. */
const nested = (levels: number, value: unknown, group = "AND"): unknown =>
  levels === 0 ? value : { [group]: [nested(levels - 1, value, group)] };

describe("rule 1: a value means equality", () => {
  test.for(
    cases([
      [{ title: "alpha" }, [1]],
      [{ title: "alpha " }, []],
      [{ short: "alphabet" }, []], // not cut to the column's five characters
      [{ code: "ab" }, [1]], // char(4) compares without its padding
      [{ code: "ab  " }, [1]],
      [{ host: "10.0.0.1" }, [1]],
      [{ host: "no address" }, []],
      [{ done: true }, [1, 4]],
      [{ count: 2 }, [2]],
      ['{"count": 2.0}', [2]],
      [{ big: "9007199254740993" }, [1]],
      ['{"big": 9007199254740993}', everything], // no longer the number that was meant
      [{ ratio: 0.1 }, [1]],
      [{ half: 0.1 }, [1]], // in the column's precision
      ['{"ratio": 1e-400}', [5]], // zero, as in JavaScript
      [{ price: "1.5" }, [1]],
      [{ price: 1.5 }, [1]],
      [{ price: "1.50001" }, []], // not rounded to the column's scale
      [{ ref: "0A0B0C0D-1111-4222-8333-444455556666" }, [1]],
      [{ mood: "it's complicated" }, [2]],
      [{ level: "high" }, [2]],
      [{ at: "2026-01-01T00:00:00.000Z" }, [1]],
      [{ at: "2026-01-01" }, [1]],
      [{ at: "2026-01-01 05:30+05:30" }, [1]],
      [{ local: "2026-01-01T00:00" }, [1]], // no zone means UTC
      [{ local: "2026-01-01T02:00+02" }, [1]],
      [{ day: "2026-01-01" }, [1]],
      [{ day: "2026-01-01T23:30:00-01:00" }, [2]], // the day in UTC
      [{ meta: { b: [true, null], a: 1.0 } }, [1]],
      [{ meta: { op: "unknown", value: 1 } }, []],
      [{ meta: { op: "eq", value: { op: "gt", value: 1 } } }, [3]],
      [{ meta: "x" }, [5]],
      [{ notes: { a: 1, b: 1 } }, [2]],
      [{ tags: ["x", "y"] }, [1]],
      [{ tags: [] }, [2]],
      [{ tags: ["NULL", null, '"{},\\'] }, [3]],
      [{ counts: ["9223372036854775807", -1] }, [2]],
      [{ times: [null, "2026-01-01T12:00Z"] }, [3]],
      [{ title: null }, [9]],
      [{ tags: null }, [9]],
      [{ 'odd "name"; --': "odd" }, [1]],
    ]),
  )("$filter", async ({ filters, ids }) => expect(await idsOf(filters)).toEqual(ids));
});

describe("rule 2: { op, value }", () => {
  test.for(
    cases([
      [{ title: { op: "eq", value: "alpha" } }, [1]],
      [{ title: { op: "eq", value: null } }, [9]],
      [{ title: { op: "ne", value: "alpha" } }, [2, 3, 4, 5, 9]], // a missing value is another value
      [{ title: { op: "ne", value: null } }, [1, 2, 3, 4, 5]],
      [{ meta: { op: "ne", value: { a: 1, b: [true, null] } } }, [2, 3, 4, 5, 9]],
      [{ tags: { op: "ne", value: ["x"] } }, [1, 2, 3, 5, 9]],
      [{ title: { op: "eq", value: "alpha", more: 1 } }, [1]],

      [{ count: { op: "gt", value: 1 } }, [2, 4]],
      [{ count: { op: "gte", value: 1 } }, [1, 2, 4]],
      [{ count: { op: "lt", value: 1 } }, [3, 5]],
      [{ count: { op: "lte", value: 1 } }, [1, 3, 5]],
      [{ big: { op: "gt", value: "9007199254740992" } }, [1, 3]],
      [{ price: { op: "lt", value: "1.50005" } }, [1, 3, 4]],
      [{ ratio: { op: "gt", value: 1e308 } }, [3]], // NaN comes after all numbers
      [{ at: { op: "gt", value: "2026-01-01" } }, [2, 4]],
      [{ local: { op: "lte", value: "2026-01-01T12:34:56.789Z" } }, [1, 2]],
      [{ day: { op: "lt", value: "2026-01-02" } }, [1, 3]],

      [{ count: { op: "in", value: [1, 2, 3] } }, [1, 2]],
      [{ count: { op: "in", value: [1, null] } }, [1, 9]],
      [{ count: { op: "in", value: [] } }, []],
      [{ count: { op: "in", value: [null] } }, [9]],
      [{ count: { op: "nin", value: [1, 2] } }, [3, 4, 5, 9]],
      [{ count: { op: "nin", value: [1, null] } }, [2, 3, 4, 5]],
      [{ count: { op: "nin", value: [] } }, everything],
      [{ count: { op: "nin", value: [null] } }, [1, 2, 3, 4, 5]],
      [{ title: { op: "in", value: ["alpha", "NULL", '"{},\\'] } }, [1]],
      [{ mood: { op: "nin", value: ["calm"] } }, [2, 3, 4, 9]],
      [{ local: { op: "in", value: ["2026-01-01", "9999-12-31T23:59:59.999Z"] } }, [1, 3]],
      [{ count: { op: "in", value: Array.from({ length: 1000 }, (_, index) => index) } }, [1, 2, 5]],

      [{ title: { op: "like", value: "%lph%" } }, [1, 2]],
      [{ title: { op: "like", value: "a%" } }, [1]],
      [{ title: { op: "ilike", value: "A____" } }, [1, 2]],
      [{ title: { op: "like", value: "50\\% \\_%" } }, [3]],
      [{ title: { op: "like", value: "% \\\\ %" } }, [3]],
      [{ title: { op: "like", value: "" } }, [5]],
      [{ host: { op: "like", value: "10.0.0.%" } }, [1, 2]],
    ]),
  )("$filter", async ({ filters, ids }) => expect(await idsOf(filters)).toEqual(ids));
});

describe("rule 3: OR, AND and several keys", () => {
  test.for(
    cases([
      [{ OR: [{ count: 1 }, { count: 2 }] }, [1, 2]],
      [{ AND: [{ done: true }, { count: 1 }] }, [1]],
      [{ done: true, count: 1 }, [1]],
      [{ done: true, OR: [{ count: 1 }, { count: 2 }] }, [1]],
      [
        {
          OR: [
            { count: 1, done: false },
            { count: 2, done: false },
          ],
        },
        [2],
      ],
      [{ OR: [{ count: 0 }], AND: [{ done: false }] }, [5]],
      [{ OR: [{ count: { op: "in", value: [] } }, { count: 2 }] }, [2]],
      [{ OR: [{ count: { op: "nin", value: [] } }, { count: 2 }] }, everything], // says "all", and is no empty group
      [{ OR: [{ AND: [{ done: true }, { count: 1 }] }, { AND: [{ done: false }, { OR: [{ count: 0 }] }] }] }, [1, 5]],
    ]),
  )("$filter", async ({ filters, ids }) => expect(await idsOf(filters)).toEqual(ids));

  test.for([1, 2, 3, 4, 5])("a group at level %i counts", async (level) => {
    expect(await idsOf(nested(level, { count: 1 }, "AND"))).toEqual([1]);
    expect(await idsOf(nested(level, { count: 1 }, "OR"))).toEqual([1]);
  });

  test("a group at level 6 is ignored, and what stands beside it is not", async () => {
    expect(await idsOf(nested(6, { count: 1 }))).toEqual(everything);
    expect(await idsOf(nested(5, { done: true, AND: [{ count: 1 }] }))).toEqual([1, 4]);
    expect(await idsOf({ OR: [{ count: 2 }, nested(5, { count: 1 })] })).toEqual([2]);
  });
});

/** Rules 4 and 5: each of these is as if it were not there. Their text is JSON where JavaScript cannot write it. */
const ignored: Record<string, unknown[]> = {
  "a column that is not allowed": [
    { secret: "hidden" },
    { id: 1 },
    { nothing: 1 },
    { "": 1 },
    { Title: "alpha" },
    { 'we"ird; -- column': "odd" }, // columns go by their property
    '{"__proto__": {"op": "eq", "value": 1}}',
    { constructor: 1 },
    { ["x".repeat(100_000)]: 1 },
  ],
  "an operator that is none": [
    { title: { op: "is", value: "alpha" } },
    { title: { op: "EQ", value: "alpha" } },
    { title: { op: ["eq"], value: "alpha" } },
    { title: { op: null, value: "alpha" } },
    { title: {} },
    { title: { value: "alpha" } },
    { title: { eq: "alpha" } },
  ],
  "an operator that the kind does not take": [
    { title: { op: "gt", value: "a" } },
    { done: { op: "gte", value: false } },
    { ref: { op: "lt", value: "ffffffff-ffff-ffff-ffff-ffffffffffff" } },
    { mood: { op: "lte", value: "calm" } },
    { count: { op: "like", value: "1%" } },
    { mood: { op: "ilike", value: "c%" } },
    { meta: { op: "gt", value: 1 } },
    { meta: { op: "in", value: [0] } },
    { tags: { op: "in", value: ["x"] } },
    { tags: { op: "like", value: "x" } },
  ],
  "a value of another type": [
    { title: 1 },
    { title: ["alpha"] },
    { title: { op: "eq" } },
    { title: { op: "like", value: 1 } },
    { title: { op: "like", value: null } },
    { done: "true" },
    { done: 1 },
    { count: "1" },
    { count: 1.5 },
    { count: 2147483648 },
    { count: { op: "gt", value: null } },
    { small: 32768 },
    { small: { op: "lt", value: -32769 } },
    { big: "9223372036854775808" },
    { big: "1.0" },
    { big: "٣" }, // digits, but not PostgreSQL's
    '{"ratio": 1e400}',
    '{"ratio": -1e400}',
    { ratio: "NaN" },
    { half: 1e39 },
    { price: "1e5" },
    { price: "NaN" },
    '{"price": 1e131071}',
    { ref: "0a0b0c0d" },
    { mood: "angry" },
    { mood: "" },
    { at: "yesterday" },
    { at: "infinity" },
    { at: "2026-02-30" },
    { at: "2025-02-29T00:00Z" },
    { at: "2026-01-01T25:00Z" },
    { at: "2026-01-01T00:00+15:00" },
    { at: "294277-01-01" },
    { at: "0000-01-01" },
    { at: 0 },
    { day: { op: "gt", value: "2026-13-01" } },
    { day: "01.02.2026" },
    { tags: "x" },
    { counts: [1, "x"] },
    { times: ["2026-02-30"] },
  ],
  "a list that is none, too long, or holds a value of another type": [
    { count: { op: "in", value: 1 } },
    { count: { op: "in", value: { 0: 1 } } },
    { count: { op: "in", value: [1, "2"] } },
    { at: { op: "nin", value: ["2026-01-01", "2026-02-30"] } },
    { count: { op: "in", value: [[1]] } },
    { count: { op: "in", value: Array(1001).fill(1) } },
    { count: { op: "nin", value: Array(10_000).fill(1) } },
    { counts: Array(1001).fill(1) },
  ],
  "a pattern that ends in an escape, or is longer than 1,000 characters": [
    { title: { op: "like", value: "alpha\\" } },
    { title: { op: "ilike", value: "\\\\\\" } },
    { title: { op: "like", value: "%a".repeat(501) } },
  ],
  "a group that is none": [
    { OR: { count: 1 } },
    { OR: "count" },
    { AND: null },
    { or: [{ count: 1 }] },
    { Or: [{ count: 1 }] },
    { NOT: [{ count: 1 }] },
  ],
  "a group, or an object, of which nothing is left": [
    {},
    { OR: [] },
    { AND: [{}] },
    { OR: [{ secret: 1 }, { AND: [] }] },
    { OR: [null, 1, "count = 1", [], [{ count: 1 }]] },
    nested(6, { count: 1 }),
  ],
  "what is nested beyond all sense": [
    `${'{"AND":['.repeat(1500)}{"count":1}${"]}".repeat(1500)}`,
    `{"meta":${"[".repeat(3000)}${"]".repeat(3000)}}`,
    `{"count":${'{"op":"eq","value":'.repeat(1500)}1${"}".repeat(1500)}}`,
  ],
};

describe("rules 4 and 5: ignored without an error is", () => {
  const entries = Object.entries(ignored).map(([what, filters]) => ({ what, filters }));
  test.for(entries)("$what", async ({ filters }) => {
    for (const filter of filters) expect([filter, await idsOf(filter)]).toEqual([filter, everything]);
  });

  const text = (filter: unknown) => (typeof filter === "string" ? filter : JSON.stringify(filter));
  test.for(entries)("$what; in a group the other members count, at every level", async ({ filters }) => {
    for (const filter of filters) {
      for (const level of [1, 2, 3, 4, 5]) {
        const around = (group: string) => {
          const [before, after] = JSON.stringify(nested(level, "here", group)).split('"here"');
          return `${before}{"count":1},${text(filter)}${after}`;
        };
        expect([filter, await idsOf(around("OR"))]).toEqual([filter, [1]]);
        expect([filter, await idsOf(around("AND"))]).toEqual([filter, [1]]);
      }
    }
  });

  test("filters that are no object", async () => {
    for (const filters of ["null", "[]", '[{"count":1}]', "1", '"count"', "true"]) {
      expect(await idsOf(filters)).toEqual(everything);
    }
  });

  test("more than 5,000 keys, as a whole", async () => {
    const members = (length: number) => ({ OR: Array.from({ length }, () => ({ count: 1 })), "": "x".repeat(40_000) });
    expect(await idsOf(members(4998))).toEqual([1]);
    expect(await idsOf(members(4999))).toEqual(everything);
    expect(await idsOf({ count: 1, meta: { op: "ne", value: Array(20_000).fill({ a: 1 }) } })).toEqual([1]);
  });
});

test("the last of two equal keys counts, as in any JSON", async () => {
  expect(await idsOf('{"count": 1, "count": 2}')).toEqual([2]);
});

test("no column allowed: nothing is filtered", async () => {
  const [row] = await db.sql(`select svc.filter_sql('{}', '{"title":"x","OR":[{"id":1}]}') as sql`);
  expect(row).toEqual({ sql: null });
});

test("everybody who lists rows may call it, and PUBLIC may not", async () => {
  const functions = await db.sql<{ name: string; roles: string[] }>(
    `select p.proname::text as name, array_agg(r.rolname::text order by r.rolname) as roles
       from pg_proc p cross join pg_roles r
      where p.pronamespace = 'svc'::regnamespace and p.proname like 'filter\\_%'
        and r.rolname in ('svc_request', 'svc_anonymous', 'svc_authenticated', 'svc_system', 'svc_auth')
        and has_function_privilege(r.rolname, p.oid, 'execute')
      group by p.oid`,
  );
  expect(functions.length).toBeGreaterThan(3);
  for (const { name, roles } of functions) {
    expect([name, roles]).toEqual([name, ["svc_anonymous", "svc_authenticated", "svc_request", "svc_system"]]);
  }
});

test("editors know the operators and values of each column", () => {
  type Filters = CrudFilters<typeof samples>;
  type Values<K extends keyof Filters> = NonNullable<Filters[K]>;
  type OrderOf<T> = T extends { op: "gt" | "gte" | "lt" | "lte"; value: infer V } ? V : never;
  expectTypeOf<{ aText: string; OR: [{ anInteger: { op: "gt"; value: 1 } }, { aDate: null }] }>().toExtend<Filters>();
  expectTypeOf<{ op: "like"; value: string }>().toExtend<Values<"aText">>();
  expectTypeOf<{ op: "like"; value: string }>().not.toExtend<Values<"anInteger">>();
  expectTypeOf<{ op: "in"; value: string[] }>().not.toExtend<Values<"someTags">>();
  expectTypeOf<{ op: "is"; value: string }>().not.toExtend<Values<"aText">>();
  expectTypeOf<OrderOf<Values<"anInteger">>>().toEqualTypeOf<number>();
  expectTypeOf<OrderOf<Values<"anInstant">>>().toEqualTypeOf<Date | string>();
  expectTypeOf<OrderOf<Values<"aBigint">>>().toEqualTypeOf<bigint | number | string>();
  expectTypeOf<OrderOf<Values<"aNumeric">>>().toEqualTypeOf<string>();
  expectTypeOf<OrderOf<Values<"aText">>>().toEqualTypeOf<never>();
  expectTypeOf<{ aText: string }>().not.toExtend<Required<Pick<CrudFilters<typeof samples, "aDate">, "aDate">>>();
});
