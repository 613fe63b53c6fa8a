/**
 * Validators check all input of handlers. If these fail, a handler gets a value of a wrong type, or a caller cannot
 * find out which field was wrong.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type } from "arktype";
import * as valibot from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { toSchema, v } from "../../src/kit/v.ts";

const check = async (schema: StandardSchemaV1, value: unknown) => schema["~standard"].validate(value);
const output = async (schema: StandardSchemaV1, value: unknown) => {
  const result = await check(schema, value);
  if (result.issues) throw new Error(JSON.stringify(result.issues));
  return result.value;
};
const issuesOf = async (schema: StandardSchemaV1, value: unknown) => (await check(schema, value)).issues ?? [];
const messagesOf = async (schema: StandardSchemaV1, value: unknown) =>
  (await issuesOf(schema, value)).map((issue) => `${issue.path?.join(".")}: ${issue.message}`);

const file = new File(["x"], "x.txt");
const accepted: [name: string, schema: StandardSchemaV1, values: unknown[]][] = [
  ["string", v.string(), ["", "a", "1"]],
  ["number", v.number(), [0, -1.5, Number.MAX_VALUE]],
  ["boolean", v.boolean(), [true, false]],
  ["file", v.file(), [file]],
  ["any", v.any(), [undefined, null, 1, {}]],
  ["optional", v.optional(v.string()), [undefined, "a"]],
  ["array", v.array(v.number()), [[], [1, 2]]],
  ["object", v.object({ a: v.optional(v.number()) }), [{}, { a: 1 }, { a: undefined }]],
];
it("a handler gets a File of each file, also of a Blob without a name", async () => {
  expect(await output(v.file(), file)).toBe(file);
  const made = (await output(v.file(), new Blob(["x"], { type: "text/plain" }))) as File;
  expect([made.constructor, made.name, made.type, await made.text()]).toEqual([File, "blob", "text/plain", "x"]);
});
const refused: [name: string, schema: StandardSchemaV1, values: [value: unknown, message: string][]][] = [
  [
    "string",
    v.string(),
    [
      [1, "Expected a string, got a number."],
      [null, "Expected a string, got null."],
    ],
  ],
  [
    "number",
    v.number(),
    [
      ["1", "Expected a finite number, got a string."],
      [Number.NaN, "Expected a finite number, got NaN."],
      [-Infinity, "Expected a finite number, got -Infinity."],
      [1n, "Expected a finite number, got a bigint."],
    ],
  ],
  [
    "boolean",
    v.boolean(),
    [
      ["true", "Expected true or false, got a string."],
      [0, "Expected true or false, got a number."],
    ],
  ],
  [
    "file",
    v.file(),
    [
      ["x.txt", "Expected a file, got a string."],
      [{ name: "x" }, "Expected a file, got an object."],
    ],
  ],
  ["optional", v.optional(v.string()), [[null, "Expected a string, got null."]]],
  [
    "array",
    v.array(v.any()),
    [
      [{ length: 0 }, "Expected an array, got an object."],
      ["ab", "Expected an array, got a string."],
    ],
  ],
  [
    "object",
    v.object({}),
    [
      [[], "Expected an object, got an array."],
      [null, "Expected an object, got null."],
      [new Date(), "Expected an object, got a date."],
      [new Map(), "Expected an object, got an object."],
      [file, "Expected an object, got a file."],
      [undefined, "Expected an object, got nothing."],
    ],
  ],
];

describe("each validator", () => {
  it.each(accepted)("%s hands on what it takes, unchanged", async (_, schema, values) => {
    for (const value of values) expect(await output(schema, value)).toEqual(value);
  });

  it.each(refused)("%s refuses the rest and says what it expected and what came", async (_, schema, values) => {
    for (const [value, message] of values) expect(await issuesOf(schema, value)).toEqual([{ message, path: [] }]);
  });

  it("is a Standard Schema, so that any library of the ecosystem takes it", () => {
    for (const [, schema] of accepted) expect(schema["~standard"]).toMatchObject({ version: 1, vendor: "svc" });
  });

  it("answers at once when only v is involved, so that nothing pays for promises it does not need", () => {
    const schema = v.object({ list: v.array(v.object({ a: v.optional(v.string()) })) });
    expect(schema["~standard"].validate({ list: [{ a: "x" }] })).toEqual({ value: { list: [{ a: "x" }] } });
  });
});

describe("issues", () => {
  it("name every wrong part by its full path, so that a form can mark all fields in one round trip", async () => {
    const schema = v.object({ title: v.string(), lines: v.array(v.object({ price: v.number() })) });
    expect(await messagesOf(schema, { lines: [{ price: 1 }, { price: "2" }, 3] })).toEqual([
      "title: Expected a string, got nothing.",
      "lines.1.price: Expected a finite number, got a string.",
      "lines.2: Expected an object, got a number.",
    ]);
  });

  it("stop at 100, so that a hostile list cannot buy an answer larger than itself", async () => {
    const nested = v.array(v.array(v.string()));
    expect(await issuesOf(v.array(v.string()), Array(100_000).fill(1))).toHaveLength(100);
    expect(await issuesOf(nested, Array(10).fill(Array(60).fill(1)))).toHaveLength(100);
  });

  it("never repeat the value, which may be a password", async () => {
    const schema = v.object({ age: v.number(), tags: v.array(v.boolean()) });
    const issues = await issuesOf(schema, { age: "hunter2", tags: ["hunter2"], hunter2: 1 });
    expect(issues).toHaveLength(2);
    expect(JSON.stringify(issues)).not.toContain("hunter2");
  });
});

describe("objects", () => {
  it("strip unknown keys, so that what was not declared never reaches a handler", async () => {
    expect(await output(v.object({ a: v.number() }), { a: 1, isAdmin: true })).toEqual({ a: 1 });
  });

  it("answer from own properties, so that a missing 'constructor' is missing", async () => {
    const schema = v.object({ constructor: v.any(), toString: v.optional(v.any()) });
    expect(Object.keys((await output(schema, {})) as object)).toEqual([]);
    expect(await issuesOf(v.object({ a: v.string() }), Object.create({ a: "inherited" }))).toHaveLength(1);
  });

  it("cannot be made to change a prototype", async () => {
    const hostile = JSON.parse('{"__proto__":{"isAdmin":true},"a":1}');
    const stripped = (await output(v.object({ a: v.number() }), hostile)) as Record<string, unknown>;
    const declared = (await output(v.object({ ["__proto__"]: v.any() }), hostile)) as Record<string, unknown>;
    expect(stripped.isAdmin).toBeUndefined();
    expect(declared.isAdmin).toBeUndefined();
    expect(Object.getPrototypeOf(declared)).toBe(Object.prototype);
    expect(Object.keys(declared)).toEqual(["__proto__"]);
  });

  it("take maps without a prototype, as query parsers make them", async () => {
    const query = Object.assign(Object.create(null), { a: "1" });
    expect(await output(v.object({ a: v.string() }), query)).toEqual({ a: "1" });
  });

  it("leave the input alone", async () => {
    const input = Object.freeze({ list: Object.freeze([1]), extra: 1 });
    await output(v.object({ list: v.array(v.number()) }), input);
    expect(input).toEqual({ list: [1], extra: 1 });
  });

  it("refuse a member that is no schema when they are defined, not at the first call", () => {
    expect(() => v.object({ a: "string" as never })).toThrow('The key "a" takes a Standard Schema such as v.string()');
    expect(() => v.array(undefined as never)).toThrow(TypeError);
    expect(() => v.optional({} as never)).toThrow(TypeError);
  });
});

describe("toSchema", () => {
  const mixed = toSchema({
    zod: z.string().trim(),
    valibot: valibot.optional(valibot.number(), 7),
    arktype: type("string.email"),
    svc: v.boolean(),
    slow: z.string().refine(async (text) => text !== "taken", "Taken."),
  });

  it("joins validators of any vendor, with their transforms and defaults", async () => {
    const input = { zod: " a ", arktype: "a@b.co", svc: true, slow: "free", extra: 1 };
    expect(await output(mixed, input)).toEqual({ zod: "a", valibot: 7, arktype: "a@b.co", svc: true, slow: "free" });
  });

  it("collects the issues of every vendor, also those that come later", async () => {
    const issues = await issuesOf(mixed, { zod: 1, valibot: "x", arktype: "x", svc: 1, slow: "taken" });
    expect(new Set(issues.map((issue) => issue.path?.[0]))).toEqual(
      new Set(["zod", "valibot", "arktype", "svc", "slow"]),
    );
  });

  it("keeps the vendor's own path below the key", async () => {
    const [issue] = await issuesOf(v.object({ a: v.array(z.object({ b: z.number() })) }), { a: [{ b: "x" }] });
    expect(issue?.path).toEqual(["a", 0, "b"]);
  });

  it.each([
    ["v", v.object({ a: v.number() })],
    ["zod", z.object({ a: z.number() })],
    ["valibot", valibot.object({ a: valibot.number() })],
    ["arktype", type({ a: "number" })],
  ] as [string, StandardSchemaV1][])("returns a schema of %s as it is", (_, schema) => {
    expect(toSchema(schema)).toBe(schema);
  });

  it("refuses what is neither, so that a workflow without checks cannot be declared by mistake", () => {
    for (const wrong of [undefined, null, 1, () => 1, [v.string()], { a: String }]) {
      expect(() => toSchema(wrong as never)).toThrow(TypeError);
    }
  });
});
