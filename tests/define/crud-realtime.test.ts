// If this file fails, a mistake in a scoped config is only noticed by missing events, or by events for the wrong users.
import { pgTable, serial, text } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { scopeText } from "../../src/crud/crud-realtime.ts";
import type { ScopedRealtime } from "../../src/crud/crud-types.ts";
import { createCrudFactory, createSvcProcedureBuilders, DefinitionError, openRls } from "../../src/index.ts";
import { bucketOf } from "../../src/realtime/buckets.ts";

const createCrud = createCrudFactory(createSvcProcedureBuilders());
const rooms = pgTable("rooms", { id: serial("id").primaryKey(), name: text("name") }, () =>
  openRls({ read: "anyone", write: "anyone" }),
);
const make = (realtime: unknown, options = {}) => createCrud(rooms, { realtime, ...options } as never);

const good = {
  policy: "authorized",
  resourceIdentity: "rooms",
  scope: () => ({}),
  scopeFromRow: () => ({}),
  authorize: () => true,
};
const { authorize: _, ...unauthorized } = good;

test.for<[what: string, realtime: unknown, problem: string]>([
  ["something that is no config", "off", "must be false, { listRealtime: false }, or { policy, resourceIdentity"],
  [
    "an option that does not exist",
    { listRealtme: false },
    '"listRealtme" is not a known key. Did you mean "listRealtime"?',
  ],
  [
    "a member that does not exist",
    { ...good, authorise: () => true },
    '"authorise" is not a known key. Did you mean "authorize"? Known here: policy, resourceIdentity',
  ],
  ["another policy", { ...good, policy: "private" }, 'policy: must be "authorized" or "public"'],
  [
    "a resourceIdentity that is no string",
    { ...good, resourceIdentity: 7 },
    "resourceIdentity: must be a text, such as the table's name, got a number",
  ],
  [
    "an empty resourceIdentity",
    { ...good, resourceIdentity: "" },
    "resourceIdentity: must be a text, such as the table's name",
  ],
  ["no scope", { ...good, scope: undefined }, "scope: must be a function, got nothing"],
  ["no scopeFromRow", { ...good, scopeFromRow: { room: 1 } }, "scopeFromRow: must be a function, got an object"],
  [
    "an async scopeFromRow",
    { ...good, scopeFromRow: async () => ({}) },
    "scopeFromRow: must be a function that is not async",
  ],
  [
    "no authorize where it is required",
    unauthorized,
    'authorize: is missing. Write authorize({ ctx, args }), or policy: "public"',
  ],
])("a config with %s is refused when it is defined", ([, realtime, problem]) => {
  let thrown: unknown;
  try {
    make(realtime);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(DefinitionError);
  expect((thrown as DefinitionError).message).toContain(`createCrud of "rooms": realtime: ${problem}`);
});

test("a config for lists is refused where there is no list", () => {
  expect(() => make(good, { methods: ["get"] })).toThrow(/createCrud of "rooms": realtime is for/);
});

test("both policies are accepted, public without authorize", () => {
  expect(() => make(good)).not.toThrow();
  expect(() => make({ ...unauthorized, policy: "public" })).not.toThrow();
});

const circular: Record<string, unknown> = {};
circular.self = circular;

test.for<[string, unknown, string]>([
  ["null", null, "returned null"],
  ["nothing", undefined, "returned undefined"],
  ["an array", [1], "returned an array"],
  ["text", "team", "returned string"],
  ["a promise", Promise.resolve({}), "returned a promise"],
  ["a member without value", { team: undefined }, "returned team: undefined"],
  ["a bigint", { team: 7n }, "returned team: bigint"],
  ["a Date", { day: new Date() }, "returned day: a Date"],
  ["NaN", { team: Number.NaN }, "returned an object with other values"],
  ["a Map", new Map(), "returned an object with other values"],
  ["itself", circular, "returned an object with other values"],
])("%s is no scope", ([, scope, problem]) => {
  expect(() => scopeText(scope, "scope")).toThrow(`scope ${problem}`);
});

test("scopes with the same members are the same, in whatever order", () => {
  expect(scopeText({ b: [{ y: 1, x: 2 }], a: null }, "scope")).toBe(
    scopeText({ a: null, b: [{ x: 2, y: 1 }] }, "scope"),
  );
  expect(scopeText({ team: "1" }, "scope")).not.toBe(scopeText({ team: 1 }, "scope"));
});

test("a bucket is one for the same policy, identity and scope, and another where one of them differs", () => {
  const bucket = (change: object, scope: object = { room: 1 }) =>
    bucketOf({ ...good, ...change } as ScopedRealtime, scope, "scope");
  expect(bucket({ authorize: () => false })).toBe(bucket({}));
  const others = [bucket({ policy: "public" }), bucket({ resourceIdentity: "halls" }), bucket({}, { room: 2 })];
  expect(new Set([bucket({}), ...others]).size).toBe(4);
});
