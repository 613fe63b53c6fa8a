// If this file fails, some filter that a caller can send causes an error, returns wrong rows, or executes SQL.

import { describe, expect, test } from "vitest";
import { toFilterJson } from "../../src/crud/crud-filters.ts";
import { database } from "../support/database.ts";
import { anyCharacter, fc } from "../support/properties.ts";
import { columns, filterTable, rows } from "./filter-table.ts";
import { listShapes } from "./list-shapes.ts";
import { matching } from "./reference-filter.ts";
import { Refused } from "./reference-values.ts";
import { usualTree } from "./usual-filters.ts";

const db = database();
const find = filterTable(db);
const { prepared } = listShapes(db);

/** Differences between SQL and reference, or errors of the SQL, for filters as a handler gets them. */
async function differences(trees: unknown[]): Promise<unknown[]> {
  const found = await find(trees.map((tree) => JSON.stringify(toFilterJson(tree) ?? null)));
  return found.flatMap(({ sql, ids, error }, index) => {
    const expected = rowsOf(trees[index]);
    const isRight = expected ? error === null && String(ids) === String(expected) : error?.startsWith("22023");
    return isRight ? [] : [{ tree: trees[index], sql, ids, expected, error }];
  });
}

/** undefined for a filter beyond a limit. */
function rowsOf(tree: unknown): number[] | undefined {
  try {
    return matching(columns, tree, rows);
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

// biome-ignore format: a list
const oddText = [
  "", "\0", "a\0b", "\ud800", "\udfff x", "😀", "__proto__", "constructor", "OR", "or", "null", "NULL", "{}", "[]", "'", '"',
  "\\", "a\\", "a\\\\", "%", "_", "al%", "%L", "%1$s", "$1", "ALPHA", "A_pha", "50\\%%", `%${"a%".repeat(499)}`, "x".repeat(1001),
];
// biome-ignore format: a list
const oddNumbers = [
  0, -0, 1, 2, 0.1, 1.5, 1.5001, -1, 32767, 32768, -32768, -32769, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 53 - 1, 2 ** 53, 1e22,
  1e308, Number.MAX_VALUE, 5e-324, 1e-45, 3.5e38, 1e-300, Number.NaN, Number.POSITIVE_INFINITY,
];
// biome-ignore format: a list
const oddTimes = [
  "2026-01-01", "2026-01-01T00:00Z", "2026-01-01 05:30:00+0530", "2026-01-01T00:00:00.000", "2026-02-29", "2024-02-29", "2026-02-30",
  "2026-13-01", "2026-00-10", "0000-01-01", "0001-01-01", "0001-01-01T00:00+14:00", "9999-12-31T23:59:59.999Z", "12345-01-01",
  "294276-12-31T23:59:59.999999Z", "294276-12-31T23:59-10:00", "294277-01-01", "2026-01-01T24:00Z", "2026-01-01T23:59:60Z",
  "2026-01-01T12:00+15:00", "infinity", "now", "epoch", "today", "20260101", "2026-1-1", "2026-01-01T12:34:56.789Z",
  "1970-01-01T00:00:00.0000001Z", "2026-01-01T10:00:00z", "2026-01-01T10:00:00 UTC",
];
const oddDates = [0, 1e3, 1767225600000, 8.64e15, -8.64e15, -62135596800000, Number.NaN].map((time) => new Date(time));
// biome-ignore format: a list
const oddValues: unknown[] = [
  null, undefined, true, false, {}, [], [[]], [null], { op: "eq" }, { op: "gt", value: 1 }, { a: 1, b: [true, null] }, { a: 1 },
  10n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), 10n ** 400n, "9223372036854775807", "9223372036854775808", "-1", "1.5", "1e5", "٣",
  `${"9".repeat(999)}.${"9".repeat(999)}`, new Map([["a", 1]]), new Set([1]), new URL("http://a"), /a/, () => 1, Symbol("s"),
  Object.create({ op: "eq", value: 1 }), Array(2), { a: Number.NaN }, { "\0": 1 }, { a: { b: "\ud800" } },
];

const stored = rows.flatMap(({ id: _, ...row }) => Object.values(row)).flatMap((value) => [value, [value]].flat());
const pool = fc.constantFrom(...stored, ...rows.flatMap(({ id: _, ...row }) => Object.values(row)));
const value = fc.oneof(
  { weight: 8, arbitrary: pool },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(...oddText, ...oddNumbers, ...oddTimes, ...oddDates, ...oddValues) },
  { weight: 1, arbitrary: fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }) },
  {
    weight: 1,
    arbitrary: fc.oneof(fc.string({ unit: anyCharacter }), fc.double(), fc.maxSafeInteger(), fc.date(), fc.uuid()),
  },
);

/** 0 to 10,000 elements, usually few. */
const list = fc.oneof(
  { weight: 20, arbitrary: fc.array(value, { maxLength: 4 }) },
  { weight: 20, arbitrary: fc.array(pool, { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(0, 999, 1000, 1001, 10_000), value)
      .map(([length, item]) => Array<unknown>(length).fill(item)),
  },
);

const op = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "like", "ilike") },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>("EQ", "=", "is", "", "or 1=1", null, 1, ["eq"], "__proto__", undefined),
  },
);

/** A value that the column contains, or a similar one, so that conditions are often valid. */
const ofColumn = (property: string) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<unknown>(...rows.map((row) => row[property] ?? null)) },
    { weight: 1, arbitrary: value },
  );

const condition = fc
  .constantFrom(
    ...Object.keys(columns),
    ...Object.keys(columns),
    "secret",
    "id",
    'we"ird; -- column',
    "__proto__",
    "toString",
    ...oddText,
  )
  .chain((key) => {
    const own = ofColumn(key);
    const input = fc.oneof(
      own,
      fc.record({ op, value: own }),
      fc.record({ op: fc.constantFrom("in", "nin"), value: fc.oneof(fc.array(own, { maxLength: 4 }), list) }),
      fc.record({ op, value: list, more: value }, { requiredKeys: ["op"] }),
    );
    return fc.tuple(fc.constant(key), input);
  });

/** Groups nest to 7 levels, two more than the limit. */
const tree = (depth: number): fc.Arbitrary<unknown> => {
  const conditions = fc.array(condition, { minLength: depth === 7 ? 1 : 0, maxLength: 3 });
  if (depth === 7) return conditions.map((entries) => Object.fromEntries(entries));
  const member = fc.oneof({ weight: 6, arbitrary: fc.memo(() => tree(depth + 1))() }, { weight: 1, arbitrary: value });
  const group = fc.tuple(
    fc.constantFrom("OR", "AND", "OR", "AND", "or", "Or", "NOT"),
    fc.oneof({ weight: 9, arbitrary: fc.array(member, { maxLength: 3 }) }, { weight: 1, arbitrary: value }),
  );
  return fc
    .tuple(conditions, fc.array(group, { maxLength: depth === 0 ? 2 : 1 }))
    .map(([left, right]) => Object.fromEntries([...left, ...right]));
};

describe("random filters", () => {
  const batch = 100;
  const runs = Math.ceil(Number(process.env.FUZZ_RUNS ?? 800) / batch);
  const seed = Number(process.env.FUZZ_SEED ?? 20260101);

  test("find the rows of the reference, and none of them fails", { timeout: 3_600_000 }, async () => {
    let filtered = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(tree(0), { minLength: batch, maxLength: batch }), async (trees) => {
        expect(await differences(trees)).toEqual([]);
        filtered += trees.filter((one) => (rowsOf(one) ?? rows).length < rows.length).length;
      }),
      { numRuns: runs, seed, endOnFailure: false },
    );
    // Agreement on filters that are all ignored would prove nothing.
    expect(filtered).toBeGreaterThan((runs * batch) / 4);
  });
});

test("the prepared statement of a filter's shape finds the same rows", { timeout: 3_600_000 }, async () => {
  const runs = Number(process.env.FUZZ_RUNS ?? 400);
  let shaped = 0;
  await fc.assert(
    fc.asyncProperty(usualTree, async (tree) => {
      const filters = toFilterJson(tree);
      const list = await prepared({ filters: JSON.parse(JSON.stringify(filters ?? {})) });
      if (!list) return;
      shaped++;
      const found = { ids: list.data.map(({ id }) => id).reverse(), total: list.total };
      const ids = matching(columns, tree, rows);
      expect(found, JSON.stringify(filters)).toEqual({ ids, total: ids.length });
    }),
    { numRuns: runs, seed: Number(process.env.FUZZ_SEED ?? 20260101) },
  );
  expect(shaped).toBeGreaterThan(runs / 10);
});

describe("SQL inside a filter", () => {
  // "zq" marks what came from outside; the statements would change the answer, or fail, if they ran.
  // biome-ignore format: a list
  const attacks = [
    "zq' or true --", "zq'; drop table filtered; --", "zq\\' or true --", "zq\\\\' or true --", "'zq", "zq''", "zq'/*", "*/zq",
    "E'zq\\x27 or true --", "U&'zq\\0027' or true", "zq$$ or true $$", "$zq$ or true $zq$", "zq\"; select 1; --", '"zq" or true',
    "zq) or (true", "zq::text) is null or (true", "zq\u2019 or true", "zq\uff07 or true", "zq\u02bc or true", "zq\n' or true --", "zq%s%I%L%1$s",
    "zq{}", '{"zq"}', "zq,NULL", '\\"zq', "zq;", "t.secret -- zq", "zq' union select secret from filtered --", "pg_sleep(9) -- zq",
    "zq' || (select secret from filtered limit 1) || '", "$1 zq", ":zq", "?zq", "zq\u0008\u001b", "-- zq\n or true",
  ];
  const properties = [
    "title",
    "short",
    "code",
    "host",
    "meta",
    "notes",
    "tags",
    'odd "name"; --',
    "count",
    "mood",
    "at",
    "ref",
    "price",
  ];
  const places = (attack: string): unknown[] => [
    ...properties.flatMap((property) => [
      { [property]: attack },
      { [property]: [attack] },
      { [property]: { [attack]: attack } },
      { [property]: { op: attack, value: attack } },
      ...["eq", "ne", "gt", "in", "nin", "like", "ilike"].flatMap((name) => [
        { [property]: { op: name, value: attack } },
        { [property]: { op: name, value: [attack, attack] } },
        { OR: [{ count: 1 }, { [property]: { op: name, value: { [attack]: attack } } }] },
      ]),
    ]),
    { [attack]: 1, count: 1 },
    { [attack]: [{ count: 1 }], OR: [{ [attack]: attack }] },
    { OR: attack, AND: [attack] },
    { OR: [{ AND: [{ [attack]: { op: "eq", value: attack } }, { title: attack }] }] },
  ];

  /** An expression without its literals. */
  const bare = (sql: string) => sql.replace(/E'(?:[^'\\]|''|\\.)*'/gs, "''").replace(/'(?:[^']|'')*'/g, "''");

  test("stays inside literals, and finds what a value finds", async () => {
    const names = Object.values(columns).map(({ name }) => `t."${name.replaceAll('"', '""')}"`);
    for (const attack of attacks) {
      const trees = places(attack);
      expect(await differences(trees)).toEqual([]);
      for (const { sql } of await find(trees.map((tree) => JSON.stringify(tree)))) {
        let rest = bare(sql ?? "");
        expect(rest).not.toContain("zq");
        for (const name of names) rest = rest.replaceAll(name, "");
        expect(rest).toMatch(/^(?:[\s()=<>]|::|''|\bt\.\w+|"filter mood"|\b[a-z_]+\b|\[\]|#>>|\.)*$/);
      }
    }
  });

  test("runs as somebody who could not read the rest of the table anyway", async () => {
    const [found] = await find(['{"secret": {"op": "like", "value": "h%"}}']);
    expect(found).toEqual({ sql: null, ids: rows.map(({ id }) => id), error: null });
  });
});
