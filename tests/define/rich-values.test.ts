// If this file fails, a value that cannot be sent or stored fails deep inside a library with an unclear message.
import { expect, test } from "vitest";
import { encodeResult } from "../../src/http/wire.ts";
import { toParts } from "../../src/kit/rich-values.ts";
import { decodeValue, encodeValue } from "../../src/workflows/encoding.ts";

const circle: { self?: unknown } = {};
circle.self = circle;

test("a value that refers to itself is refused in words", () => {
  const words = (what: string) => new TypeError(`${what} refers to itself, or is nested too deeply.`);
  expect(() => toParts("It", circle, "")).toThrow(words("It"));
  expect(() => encodeResult(circle)).toThrow(words("A procedure's result"));
  expect(() => encodeValue("The arguments of a workflow", circle)).toThrow(words("The arguments of a workflow"));
});

test("a file is refused, and the words say what to do with it", () => {
  const held = { deep: [new Blob(["x"])] };
  expect(() => encodeResult(held)).toThrow("holds a file. Return its bytes from a route instead.");
  expect(() => encodeValue("The step's result", held)).toThrow(
    "The step's result holds a file. Store it, and keep its id.",
  );
});

test("a promise, a Response and a stream are refused: JSON makes {} of them", () => {
  expect(() => encodeResult({ rows: [Promise.resolve(1)] })).toThrow(
    "A procedure's result, at rows.0, holds a promise. Await it.",
  );
  expect(() => encodeResult({ all: new Map([["a", Promise.resolve(1)]]) })).toThrow(
    "result holds a promise. Await it.",
  );
  const pool = Object.assign(new (class Pool {})(), { own: {}, of: Promise.resolve() });
  pool.own = pool;
  expect(() => encodeResult({ pool, late: Promise.resolve(1) })).toThrow("result, at late, holds a promise.");
  const own: { all: Set<unknown>; own?: unknown } = { all: new Set([Promise.resolve(1)]) };
  own.own = own;
  expect(() => encodeResult(own)).toThrow("result holds a promise.");
  expect(() => encodeResult(new Response("x"))).toThrow("holds a Response. Return what it holds");
  expect(() => encodeValue("The step's result", { of: new ReadableStream() })).toThrow(
    "The step's result, at of, holds a stream. Return it from a route",
  );
});

test("a function is refused: JSON drops it, and no client could read the answer", () => {
  expect(() => encodeResult(() => 1)).toThrow("A procedure's result is a function.");
  expect(() => encodeResult(Symbol("x"))).toThrow("A procedure's result is a symbol.");
  expect(encodeResult({ kept: 1, dropped: () => 1 })).toBe('{"json":{"kept":1}}');
});

test("what a run keeps comes back as it was, up to 1 MiB", () => {
  const value = { at: new Date(0), many: 10n ** 30n, kinds: new Set(["a", undefined]) };
  expect(decodeValue(JSON.parse(encodeValue("It", value)))).toStrictEqual(value);
  expect(() => encodeValue("It", "x".repeat(2 ** 20))).toThrow("It is larger than 1 MiB.");
});
