// If this file fails, a client's filter selects other rows than the specification says, or is refused.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";

const db = database();
const svc = service(db);
let ann: User;

beforeAll(async () => {
  ann = await svc.signUp("ann");
  await db.sql(
    `insert into articles (user_id, title, priority, published, day, mood)
     values ($1, 'one', 1, true, '2026-01-01', 'calm'), ($1, 'Two', 2, false, '2026-01-02', null),
            ($1, 'three', 3, true, '2026-01-03', null), ($1, 'four', null, false, null, null)`,
    [ann.id],
  );
});

async function found(filters: unknown, name = "articles"): Promise<string[]> {
  const { status, body } = await svc.query(ann, `${name}.list`, { filters, orderBy: "title", orderDir: "asc" });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.json.total).toBe(body.json.data.length);
  return body.json.data.map(({ title }: { title: string }) => title);
}

const everything = ["Two", "four", "one", "three"];
const nested = (depth: number): object =>
  depth === 0 ? { priority: 1 } : { [depth % 2 ? "AND" : "OR"]: [nested(depth - 1)] };

describe("a filter", () => {
  const cases: [string, unknown, string[]][] = [
    ["of a value means equality", { priority: 2 }, ["Two"]],
    ["with eq takes any value", { published: { op: "eq", value: true } }, ["one", "three"]],
    ["with ne takes any value", { mood: { op: "ne", value: "calm" } }, ["Two", "four", "three"]],
    ["with gt takes a number", { priority: { op: "gt", value: 2 } }, ["three"]],
    ["with gte takes a number", { priority: { op: "gte", value: 2 } }, ["Two", "three"]],
    ["with lt takes a number", { priority: { op: "lt", value: 2 } }, ["one"]],
    ["with lte takes a date", { day: { op: "lte", value: "2026-01-02" } }, ["Two", "one"]],
    ["with gt takes a date", { day: { op: "gt", value: "2026-01-02" } }, ["three"]],
    ["with in takes an array", { priority: { op: "in", value: [1, 3] } }, ["one", "three"]],
    ["with nin takes an array", { priority: { op: "nin", value: [1, 3] } }, ["Two", "four"]],
    ["with like takes a string and its case", { title: { op: "like", value: "t%" } }, ["three"]],
    ["with ilike takes a string in any case", { title: { op: "ilike", value: "t%" } }, ["Two", "three"]],
    ["with OR matches when any member does", { OR: [{ priority: 1 }, { title: "four" }] }, ["four", "one"]],
    ["with AND matches when every member does", { AND: [{ published: true }, { priority: 3 }] }, ["three"]],
    ["with several keys means AND", { published: true, priority: 1 }, ["one"]],
    ["nested to 5 levels is honoured", nested(5), ["one"]],
    ["nested deeper than 5 levels is ignored", nested(6), everything],
    ["on a column that is not allowed is ignored", { body: "x", priority: 1 }, ["one"]],
    ["on a column that is not allowed is ignored inside groups", { OR: [{ body: "x" }, { priority: 1 }] }, ["one"]],
    ["on a column that is not allowed is ignored deep inside", { AND: [{ OR: [{ body: "x" }] }] }, everything],
    ["with an invalid operator is ignored", { priority: { op: "between", value: 1 } }, everything],
    [
      "with an invalid operator is ignored beside valid ones",
      { priority: { op: "~", value: 1 }, title: "one" },
      ["one"],
    ],
    ["with a value of the wrong type is ignored", { priority: { op: "gt", value: "many" } }, everything],
    ["with a value of the wrong type for in is ignored", { priority: { op: "in", value: 1 } }, everything],
    ["with a value of the wrong type for ilike is ignored", { title: { op: "ilike", value: 5 } }, everything],
    ["that is no object is ignored", "priority = 1", everything],
  ];
  test.for(cases)("%s", async ([, filters, expected]) => {
    expect(await found(filters)).toEqual(expected);
  });

  test("is ignored without allowedFilters", async () => {
    expect(await found({ priority: 1, OR: [{ title: "one" }] }, "plain_articles")).toEqual(everything);
  });

  test("by default there is none", async () => {
    expect(await found(undefined)).toEqual(everything);
  });
});
