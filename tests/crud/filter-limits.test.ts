// If this file fails, a filter beyond a limit is ignored, and a list shows rows that were not asked for.
import { describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { columns, filterTable } from "./filter-table.ts";

const db = database();
const find = filterTable(db);

async function idsOf(filters: unknown): Promise<number[]> {
  const [found] = await find([JSON.stringify(filters)]);
  expect(found?.error).toBeNull();
  return found?.ids ?? [];
}

// Ignored, they found every row: a list of 1,001 ids the whole table.
describe("refused is", () => {
  const refused = async (filters: unknown) => {
    const [found] = await find([JSON.stringify(filters)]);
    return found?.error;
  };
  const lists = /^22023 have a list of more than 1,000 values$/;
  const patterns = /^22023 have more than 20 patterns, or more than 2,000 characters of them$/;

  test.for([
    [{ count: { op: "in", value: Array(1001).fill(1) } }, lists],
    [{ count: { op: "nin", value: Array(10_000).fill(1) } }, lists],
    [{ counts: Array(1001).fill(1) }, lists],
    [{ OR: [{ done: true }, { AND: [{ count: { op: "in", value: Array(1001).fill(1) } }] }] }, lists],
    [{ title: { op: "like", value: "%a".repeat(501) } }, /^22023 have a pattern of more than 1,000 characters$/],
  ] as const)("a list or a pattern that is too long: %j", async ([filters, problem]) => {
    expect(await refused(filters)).toMatch(problem);
  });

  test("neither where its column is not allowed, nor where it is a value", async () => {
    const long = Array(1001).fill(1);
    expect(await idsOf({ secret: { op: "in", value: long }, done: true })).toEqual([1, 4]);
    expect(await idsOf({ tags: { op: "in", value: long }, done: true })).toEqual([1, 4]);
    expect(await idsOf({ meta: { op: "ne", value: long }, done: true })).toEqual([1, 4]);
  });

  test("more than 20 patterns, or 2,000 characters of them", async () => {
    const like = (value: string, op = "like") => ({ title: { op, value } });
    const groups = (one: object, length: number, around = "OR") => ({ [around]: Array(length).fill(one) });
    const either = (length: number, one = like("alpha")) => groups(one, length);
    expect(await idsOf(either(20))).toEqual([1]);
    expect(await refused(either(21))).toMatch(patterns);
    // At any position: in nested groups, beside other conditions, in several columns.
    expect(await refused({ AND: [either(10), either(11)] })).toMatch(patterns);
    expect(await refused({ ...either(10), AND: [{ count: 1 }, either(11)] })).toMatch(patterns);
    const both = { ...like("a%"), code: { op: "like", value: "%" } };
    expect(await refused({ count: 1, OR: Array(11).fill(both) })).toMatch(patterns);
    const long = (characters: number) => either(2, like(`alpha${"%".repeat(characters - 5)}`));
    expect(await idsOf(long(1_000))).toEqual([1]);
    expect(await refused({ ...long(1_000), AND: [like("%")] })).toMatch(patterns);
  });

  test("only patterns that would be held against rows count", async () => {
    const many = (one: object) => ({ count: 1, AND: Array(30).fill(one) });
    for (const one of [
      { secret: { op: "like", value: "%" } },
      { count: { op: "like", value: "%" } },
      { tags: { op: "like", value: "%" } },
      { title: { op: "like", value: 1 } },
      { meta: { op: "ne", value: { op: "like", value: "%" } } },
    ]) {
      expect([one, await idsOf(many(one))]).toEqual([one, [1]]);
    }
  });

  test("more than 5,000 keys", async () => {
    const members = (length: number) => ({ OR: Array.from({ length }, () => ({ count: 1 })), "": "x".repeat(40_000) });
    expect(await idsOf(members(4998))).toEqual([1]);
    expect(await refused(members(4999))).toMatch(/^22023 have more than 5,000 keys$/);
    // Also where a call refuses what a list would ignore.
    const { rows } = await (await db.connect("admin")).query(
      "select svc_hidden.exact_filter(jsonb_build_object('filters', $1::jsonb), $2) like ' and %' as it",
      [columns, { OR: Array(4999).fill({ count: 1 }) }],
    );
    expect(rows).toEqual([{ it: true }]);
    const atLevelFive = { AND: [{ AND: [{ AND: [{ AND: [members(4998)] }] }] }] };
    expect(await refused(atLevelFive)).toMatch(/^22023 have more than 5,000 keys$/);
    expect(await idsOf({ count: 1, meta: { op: "ne", value: Array(20_000).fill({ a: 1 }) } })).toEqual([1]);
  });
});
