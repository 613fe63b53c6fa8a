/** Values for a JSON Schema: valid, nearly valid and unexpected ones. */
import fc, { type Arbitrary } from "fast-check";
import type { OpenApiDocument } from "../../src/openapi/document.ts";
import { anyCharacter } from "../support/properties.ts";

type Schema = Record<string, unknown>;

const nest = (depth: number): unknown => {
  let value: unknown = {};
  for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { a: value };
  return value;
};

// biome-ignore format: a list
const strange: unknown[] = [
  null, true, false, 0, -0, 1, -1, 0.5, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1e21, -1e308, 5e-324, "", " ", "a", "0", "-1", "1e999", "NaN",
  "a\0b", "\ud800", "\udfff\ud800", "😀", "'", '"', "\\", "%", "_", "';--", "$1", "x".repeat(300), "x".repeat(20_000), [], {}, [[]], [null], {}, { op: "eq" },
  { op: "gt", value: null }, { op: "like", value: "%\\" }, { op: "in", value: "a" }, { op: "in", value: Array(1001).fill(1) }, { OR: [] }, { json: 1, meta: [] },
  { json: "x", meta: [[1]] }, { json: "NaN", meta: [[0]] }, { json: [1], meta: [[6]] }, { json: 1, meta: [[9]] }, { json: 1, meta: [[5, "a"]] }, { json: {}, meta: [[1, "__proto__"]] },
  { json: { a: 1 }, meta: [[3, "constructor", "prototype"]] }, { json: "(", meta: [[5]] }, { json: "9".repeat(5000), meta: [[0]] }, { json: "no date", meta: [[1]] },
  "2026-01-01", "2026-02-30T00:00:00Z", "0000-00-00", "999999-12-31", "infinity", "now", "-1-01-01", "2026-01-01T25:00:00Z", "2026-01-01T00:00:00+99:99",
  "00000000-0000-0000-0000-000000000000", "{00000000-0000-0000-0000-000000000000}", "AAAA", "====", "__proto__", "constructor", "toString",
  JSON.parse('{"__proto__":{"admin":true}}'), { constructor: { prototype: {} } }, { length: 4 }, { toJSON: 1 }, nest(70), nest(3000), Array(3000).fill(0),
  ["a", 1, null, {}], { id: 1, "": "", "a.b": 1, "\n": 2 }, "9223372036854775808", "-9223372036854775808", "1".repeat(2000), `${"9".repeat(1001)}`, "1e5", ".5", "0x10",
];

export const hostile: Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...strange) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4, stringUnit: anyCharacter }) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }) },
);

/** Texts, for every position that takes one. */
const texts = fc.oneof(fc.string({ unit: "grapheme", maxLength: 30 }), fc.constantFrom("a", "x y", "’", "日本語", "0"));

const formats: Record<string, Arbitrary<string>> = {
  "date-time": fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date("9999-01-01") })
    .map((date) => date.toISOString()),
  date: fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date("9999-01-01") })
    .map((date) => date.toISOString().slice(0, 10)),
  email: fc.emailAddress({ size: "xsmall" }),
};

/** Creates values for a document's schemas. @param known existing ids */
export function valuesOf(document: OpenApiDocument, known: readonly string[]) {
  const named = (reference: string) => document.components.schemas?.[reference.split("/").pop() ?? ""] as Schema;

  /** @param depth how many more levels of objects and lists are allowed */
  function fitting(given: unknown, depth = 4): Arbitrary<unknown> {
    const schema = Object(given) as Schema;
    if (typeof schema.$ref === "string") return depth > 0 ? fitting(named(schema.$ref), depth - 1) : fc.constant({});
    if ("const" in schema) return fc.constant(schema.const);
    if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
    if (Array.isArray(schema.anyOf)) return fc.oneof(...schema.anyOf.map((one) => fitting(one, depth)));
    const types = [schema.type].flat().filter((type) => typeof type === "string");
    if (types.length === 0) return fc.jsonValue({ maxDepth: 2 });
    return fc.oneof(...types.map((type) => ofType(type, schema, depth)));
  }

  function ofType(type: string, schema: Schema, depth: number): Arbitrary<unknown> {
    const {
      minimum = -(2 ** 31),
      maximum = 2 ** 31 - 1,
      minLength = 0,
      maxLength = 40,
    } = schema as Record<string, number>;
    if (type === "null") return fc.constant(null);
    if (type === "boolean") return fc.boolean();
    // Ids are numbered from 1; random integers would never match them.
    if (type === "integer") return fc.oneof(fc.integer({ min: minimum, max: maximum }), fc.integer({ min: 1, max: 9 }));
    if (type === "number") return fc.double({ noNaN: true, noDefaultInfinity: true, min: minimum, max: maximum });
    if (type === "array")
      return depth > 0 ? fc.array(fitting(schema.items, depth - 1), { maxLength: 3 }) : fc.constant([]);
    if (type === "object") return object(schema, depth);
    if (schema.contentEncoding === "base64") return fc.base64String({ maxLength: 16 });
    if (typeof schema.pattern === "string") {
      const digits = Math.min(18, Number(/\{1,(\d+)\}/.exec(schema.pattern)?.[1] ?? 18));
      return fc.bigInt({ min: -(10n ** BigInt(digits)) + 1n, max: 10n ** BigInt(digits) - 1n }).map(String);
    }
    if (schema.format === "uuid") return fc.oneof(fc.uuid(), fc.constantFrom(...known));
    const format = formats[String(schema.format)];
    if (format) return format;
    return texts.map((text) => [...text.padEnd(minLength, "x")].slice(0, maxLength).join("")); // no split characters
  }

  function object({ properties, required }: Schema, depth: number): Arbitrary<unknown> {
    if (depth <= 0) return fc.constant({});
    const members = Object.entries(Object(properties)).map(([key, of]) => [key, fitting(of, depth - 1)] as const);
    const requiredKeys = Array.isArray(required) ? required : [];
    return fc.record(Object.fromEntries(members), { requiredKeys: requiredKeys as never[], noNullPrototype: true });
  }

  /** A value with one or two wrong places. */
  const nearly = (schema: unknown): Arbitrary<unknown> =>
    fc
      .tuple(fitting(schema), hostile, fc.nat(50), fc.constantFrom("replace", "remove", "add"))
      .map(([value, other, place, how]) => changed(value, other, place, how));

  return { fitting, nearly };
}

/** The value with one of its inner members changed; without members, another value. */
function changed(value: unknown, other: unknown, place: number, how: string): unknown {
  const members: [holder: Record<string, unknown>, key: string][] = [];
  const copy: unknown = structuredClone(value);
  const walk = (at: unknown) => {
    if (typeof at !== "object" || at === null) return;
    for (const key of Object.keys(at)) {
      members.push([at as Record<string, unknown>, key]);
      walk((at as Record<string, unknown>)[key]);
    }
  };
  walk(copy);
  const [holder, key] = members[place % Math.max(1, members.length)] ?? [];
  if (!holder || key === undefined) return other;
  if (how === "remove") delete holder[key];
  else holder[how === "add" ? `${key}x` : key] = other;
  return copy;
}
