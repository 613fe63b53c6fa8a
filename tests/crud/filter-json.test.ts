// If this file fails, a filter from a client breaks the whole call on its way to the database, or loses a condition.
import { expect, test } from "vitest";
import { toFilterJson } from "../../src/crud/crud-filters.ts";

const date = new Date("2026-01-01T12:34:56.789Z");
const deep = (levels: number, value: unknown): unknown => (levels === 0 ? value : [deep(levels - 1, value)]);

test.for<[what: string, filters: unknown, json: unknown]>([
  ["plain conditions", { a: "x", b: 1, c: false, d: null }, { a: "x", b: 1, c: false, d: null }],
  ["operators", { a: { op: "in", value: [1, null] } }, { a: { op: "in", value: [1, null] } }],
  [
    "dates, as ISO 8601",
    { a: date, b: { op: "gt", value: date } },
    { a: date.toJSON(), b: { op: "gt", value: date.toJSON() } },
  ],
  ["dates after 9999, without a sign", { a: new Date(8.64e15) }, { a: "275760-09-13T00:00:00.000Z" }],
  ["bigints, as text", { a: 2n ** 63n, b: [-1n] }, { a: "9223372036854775808", b: ["-1"] }],
  ["groups", { OR: [{ a: 1 }, { AND: [{ b: date }] }] }, { OR: [{ a: 1 }, { AND: [{ b: date.toJSON() }] }] }],
  ["whole characters", { a: "日本 😀" }, { a: "日本 😀" }],
  ["objects without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
])("keeps %s", ([, filters, json]) => {
  expect(toFilterJson(filters)).toEqual(json);
});

const impossible: [what: string, value: unknown][] = [
  ["undefined", undefined],
  ["NaN", Number.NaN],
  ["Infinity", Number.NEGATIVE_INFINITY],
  ["an invalid date", new Date(Number.NaN)],
  ["a string with NUL", "a\0b"],
  ["half a character", "\ud83d"],
  ["the other half", "x\ude00"],
  ["a Map", new Map([["a", 1]])],
  ["a Set", new Set([1])],
  ["a URL", new URL("https://example.com")],
  ["a RegExp", /a/],
  ["a function", () => 1],
  ["a symbol", Symbol("a")],
  ["a file", new File(["x"], "x.txt")],
  ["bytes", new Uint8Array(2)],
  ["a hole", Array(2)],
  ["a key with NUL", { "a\0": 1 }],
  ["a key of half a character", { "\ud83d": 1 }],
  ["something inherited", Object.create({ op: "eq", value: 1 })],
  ["65 levels", deep(65, 1)],
];

test.for(impossible)("leaves out a condition that holds %s, and nothing else", ([, value]) => {
  for (const condition of [
    value,
    [1, value],
    { op: "eq", value },
    { op: "in", value: [1, value] },
    { a: { b: value } },
  ]) {
    expect(toFilterJson({ a: condition })).toBeUndefined();
    expect(toFilterJson({ a: condition, b: 1 })).toEqual({ b: 1 });
    expect(toFilterJson({ OR: [{ a: condition }, { b: 1, c: condition }] })).toEqual({ OR: [{ b: 1 }] });
  }
});

test.for(impossible)("leaves out %s in place of a group or of filters", ([, value]) => {
  expect(toFilterJson(value)).toBeUndefined();
  expect(toFilterJson({ OR: [value, { b: 1 }] })).toEqual({ OR: [{ b: 1 }] });
});

test("leaves out keys that are no text", () => {
  expect(toFilterJson({ "a\0": 1, "\ud83d": 1, b: 1 })).toEqual({ b: 1 });
});

test("takes __proto__ for a key like any other", () => {
  const json = toFilterJson(JSON.parse('{"__proto__": {"op": "eq"}, "a": {"__proto__": 1}}'));
  expect(JSON.stringify(json)).toBe('{"__proto__":{"op":"eq"},"a":{"__proto__":1}}');
  expect(Object.getPrototypeOf(json)).toBe(Object.prototype);
});

test("gives nothing where there is no filter", () => {
  for (const filters of [null, undefined, {}, [], [{ a: 1 }], "a", 1, true, date]) {
    expect(toFilterJson(filters)).toBeUndefined();
  }
});
