// If this file fails, a filtered list shows rows that do not match, hides rows that do, or answers with an error.
import { describe, expect, expectTypeOf, test } from "vitest";
import type { CrudFilters } from "../../src/crud/crud-filters.ts";
import type { samples } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { filterTable } from "./filter-table.ts";
import { ignored, nested } from "./ignored-filters.ts";

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

describe("a number that an integer column cannot hold", () => {
  test.for(
    cases([
      [{ count: 1.5 }, []],
      [{ count: { op: "ne", value: 1.5 } }, everything],
      [{ count: { op: "gt", value: 1.5 } }, [2, 4]],
      [{ count: { op: "gte", value: 1.5 } }, [2, 4]],
      [{ count: { op: "lt", value: 1.5 } }, [1, 3, 5]],
      [{ count: { op: "lte", value: -0.5 } }, [3]],
      [{ count: { op: "gt", value: 2147483648 } }, []],
      [{ count: { op: "lt", value: 1e300 } }, [1, 2, 3, 4, 5]], // a missing value has no order
      [{ count: { op: "in", value: [1.5, 2, null] } }, [2, 9]],
      [{ count: { op: "nin", value: [1.5, 2, -3e9] } }, [1, 3, 4, 5, 9]],
      [{ small: { op: "lt", value: -32769 } }, []],
      [{ small: { op: "gte", value: 32767.5 } }, []],
      [{ small: { op: "lte", value: 32768 } }, [1, 2, 3]],
      [{ big: { op: "gt", value: 0.5 } }, [1, 3]],
      [{ big: { op: "nin", value: [0.5, null] } }, [1, 2, 3]],
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
});

test("the last of two equal keys counts, as in any JSON", async () => {
  expect(await idsOf('{"count": 1, "count": 2}')).toEqual([2]);
});

test("no column allowed: nothing is filtered", async () => {
  const [row] = await db.sql(`select svc_hidden.filter_sql('{}', '{"title":"x","OR":[{"id":1}]}') as sql`);
  expect(row).toEqual({ sql: null });
});

test("everybody who lists rows may call it, and PUBLIC may not", async () => {
  const functions = await db.sql<{ name: string; roles: string[] }>(
    `select p.proname::text as name, array_agg(r.rolname::text order by r.rolname) as roles
       from pg_proc p cross join pg_roles r
      where p.pronamespace = 'svc_hidden'::regnamespace and p.proname like 'filter\\_%'
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
  expectTypeOf<OrderOf<Values<"aNumeric">>>().toEqualTypeOf<number | string>();
  expectTypeOf<OrderOf<Values<"aText">>>().toEqualTypeOf<never>();
  expectTypeOf<{ aText: string }>().not.toExtend<Required<Pick<CrudFilters<typeof samples, "aDate">, "aDate">>>();
});
