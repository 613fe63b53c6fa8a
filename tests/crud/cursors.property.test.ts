// If this file fails, a walk by cursor repeats or skips rows, or a prepared statement reads a cursor in another way than
// svc.find_rows().
import { describe, expect, test } from "vitest";
import { toFilterJson } from "../../src/crud/crud-filters.ts";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";
import { columns, filterTable, type Row, rows } from "./filter-table.ts";
import { listShapes, sortable } from "./list-shapes.ts";
import { matching } from "./reference-filter.ts";
import { compare, readStored } from "./reference-values.ts";
import { usualTree } from "./usual-filters.ts";

const db = database();
filterTable(db);
const { prepared, found } = listShapes(db);

const walk = fc.record(
  {
    orderBy: fc.constantFrom(...sortable.map(({ property }) => property)),
    orderDir: fc.constantFrom("asc", "desc"),
    limit: fc.integer({ min: 1, max: 4 }),
    tree: fc.oneof(fc.constant({}), usualTree),
    search: fc.constantFrom("a", "ALPHA", "%", "\\", "'", "no such thing"),
  },
  { requiredKeys: ["orderBy", "orderDir", "limit"] },
);

const ordered = ["integer", "bigint", "number", "numeric", "timestamp", "date", "boolean"];

/** The ids in order, from the documentation; the order of texts depends on the collation, so it is null for them. */
function order(ids: number[], orderBy: string, orderDir: string): number[] | null {
  const column = sortable.find(({ property }) => property === orderBy);
  if (!column || !ordered.includes(column.kind)) return null;
  const stored = ({ id, ...row }: Row) => {
    if (orderBy === "id" || orderBy === "third") return orderBy === "id" ? id : id % 3;
    const described = columns[orderBy];
    return described ? readStored(described, row[orderBy] ?? null) : null;
  };
  const sign = orderDir === "asc" ? 1 : -1;
  const wanted = rows.filter(({ id }) => ids.includes(id));
  wanted.sort((one, other) => {
    const [a, b] = [stored(one), stored(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null) || sign * (one.id - other.id);
    return sign * (compare(a, b) || one.id - other.id);
  });
  return wanted.map(({ id }) => id);
}

describe("a walk by cursor", () => {
  test("meets every row once, page for page as svc.find_rows() does", { timeout: 3_600_000 }, async () => {
    const runs = Number(process.env.FUZZ_RUNS ?? 200);
    let shaped = 0;
    let later = 0;
    await fc.assert(
      fc.asyncProperty(walk, async ({ tree, ...args }) => {
        const filters = tree && toFilterJson(tree);
        const list = { ...args, ...(filters !== undefined && { filters: JSON.parse(JSON.stringify(filters)) }) };
        const matched = tree ? matching(columns, tree, rows) : rows.map(({ id }) => id);
        const search = args.search?.toLowerCase();
        const ids = matched.filter((id) => {
          const title = rows.find((row) => row.id === id)?.title as string | undefined;
          return search === undefined || title?.toLowerCase().includes(search);
        });
        const met: number[] = [];
        for (let cursor: string | null = null, page = 0; page === 0 || cursor; page++) {
          const answer = await found({ ...list, cursor });
          const own = await prepared({ select: ["id"], ...list, cursor });
          if (own) {
            expect(own, JSON.stringify({ ...list, cursor })).toEqual(answer);
            shaped++;
            later += Number(page > 0);
          }
          expect(answer.total).toBe(ids.length);
          met.push(...answer.data.map(({ id }) => id));
          cursor = answer.nextCursor ?? null;
        }
        expect([...met].sort()).toEqual([...ids].sort());
        expect(met).toEqual(order(ids, args.orderBy, args.orderDir) ?? met);
      }),
      { numRuns: runs, seed: Number(process.env.FUZZ_SEED ?? 20260101) },
    );
    expect(shaped).toBeGreaterThan(runs / 2);
    expect(later).toBeGreaterThan(runs / 5);
  });
});

describe("a cursor", () => {
  const outcome = (call: Promise<unknown>) =>
    call.then(
      (list) => ({ list, code: undefined }),
      ({ code, hint }) => ({ list: undefined, code, hint }),
    );
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const part = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<unknown>(...rows.flatMap((row) => Object.values(row)).map(String)) },
    {
      weight: 2,
      // biome-ignore format: a list
      arbitrary: fc.constantFrom<unknown>(null, "", "1", "-0", "1.0", "0x1", " 1", "NaN", "Infinity", "1e400", "5e-324", "true", "t", "1e5", "\0",
        "2026-02-30 00:00:00+00", "2026-01-01 00:00:00+00", "2026-01-01 00:00:00", "2026-01-01 00:00:00.123456+05:30", "infinity",
        "0044-03-15 00:00:00 BC", "2026-01-01", "9".repeat(200), "'", "\\", "$1", "2147483648", 1, true, {}, [1]),
    },
    { weight: 1, arbitrary: fc.anything() },
  );
  test("with any place of the right list, and one of another, is read in the same way", {
    timeout: 3_600_000,
  }, async () => {
    const places = fc.record({
      list: fc.integer({ min: 0, max: 9 }),
      key: part,
      id: part,
      whole: fc.integer({ min: 0, max: 9 }),
    });
    let shaped = 0;
    const runs = Number(process.env.FUZZ_RUNS ?? 200);
    const direction = fc.constantFrom("asc", "desc");
    const property = fc.constantFrom(...sortable.map((column) => column.property));
    await fc.assert(
      fc.asyncProperty(property, direction, places, async (orderBy, orderDir, { list, key, id, whole }) => {
        const args = { orderBy, orderDir, limit: 1 };
        const { nextCursor } = await found({ ...args, cursor: null });
        const [name, , first] = JSON.parse(Buffer.from(nextCursor ?? "", "base64url").toString());
        const text = encoded([list === 0 ? "another" : name, key, list < 5 ? first : id]);
        const cursor = whole === 0 ? `${text}=` : whole === 1 ? text.slice(0, -1) : text;
        const own = await outcome(prepared({ select: ["id"], ...args, cursor }));
        if (!own.list && !own.code) return;
        shaped++;
        expect(own, JSON.stringify([orderBy, key, id])).toEqual(await outcome(found({ ...args, cursor })));
      }),
      { numRuns: runs, seed: Number(process.env.FUZZ_SEED ?? 20260101) },
    );
    expect(shaped).toBeGreaterThan(runs / 20);
  });
});
