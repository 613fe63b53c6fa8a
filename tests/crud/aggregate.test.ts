// If this file fails, aggregate counts rows that its caller may not see, or gives another sum, group or order than a simple
// evaluation of the visible rows in JavaScript.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { procedures, shelfSql } from "./shelf.ts";

const runs = Math.min(Number(process.env.FUZZ_RUNS ?? 150), 10_000);
const seed = Number(process.env.FUZZ_SEED ?? 20260101);

const db = database();
beforeAll(() => db.sql(`${shelfSql}; alter publication svc add table sales`));
const running = service(db, apiWith({ procedures }));

let state = seed || 1;
function random(): number {
  for (const by of [13, -17, 5]) state ^= by > 0 ? state << by : state >>> -by;
  return (state >>> 0) / 2 ** 32;
}
const below = (limit: number) => Math.floor(random() * limit);
const pick = <T>(items: readonly T[]) => items[below(items.length)] as T;
const some = <T>(items: readonly T[], most: number) => [...items].sort(() => random() - 0.5).slice(0, below(most + 1));

interface Sale {
  userId: string;
  status: string | null;
  isPaid: boolean;
  amount: number | null; // in cents
  pieces: number | null;
  total: bigint | null;
  weight: number | null;
  soldAt: Date | null;
  seenAt: Date | null;
  day: string | null;
  gone: boolean;
}
const sold: Sale[] = [];
const users: User[] = [];

const year = (from: number) => new Date(Date.UTC(from, 0, 1) + below(2 * 365 * 86_400) * 1_000);
const maybe = <T>(value: T) => (random() < 0.15 ? null : value);
beforeAll(async () => {
  for (const name of ["ann", "bob"]) users.push(await running.signUp(name));
  for (let count = 0; count < 400; count++) {
    // Half of them around the nights in which clocks change.
    const night = new Date(Date.parse(pick(["2025-03-30T00:00:00Z", "2025-10-25T22:00:00Z"])) + below(14_400) * 1_000);
    sold.push({
      userId: pick(users).id,
      status: maybe(pick(["a", "b", "c"])),
      isPaid: random() < 0.5,
      amount: maybe(below(1_000_000) - 300_000),
      pieces: maybe(below(4)),
      total: maybe(2n ** 60n + BigInt(below(3))),
      weight: maybe(below(1_000) / 8),
      soldAt: maybe(random() < 0.5 ? night : year(2024)),
      seenAt: maybe(year(2025)),
      day: maybe(year(2025).toISOString().slice(0, 10)),
      gone: random() < 0.1,
    });
  }
  await db.sql(
    `insert into sales (user_id, status, is_paid, amount, pieces, total, weight, sold_at, seen_at, day, gone, secret)
     select s ->> 'userId', s ->> 'status', (s -> 'isPaid')::boolean, (s ->> 'amount')::numeric / 100, (s ->> 'pieces')::integer,
       (s ->> 'total')::bigint, (s ->> 'weight')::float, (s ->> 'soldAt')::timestamptz,
       (s ->> 'seenAt')::timestamptz at time zone 'UTC', (s ->> 'day')::date, (s -> 'gone')::boolean, 'x'
     from jsonb_array_elements($1) as s`,
    [JSON.stringify(sold, (_, value) => (typeof value === "bigint" ? String(value) : value))],
  );
});

const aggregate = (user: User | null, args: object) => running.query(user, "sales.aggregate", args);
async function done(user: User, args: object) {
  const { status, body } = await aggregate(user, args);
  if (status === 500) throw new Error(running.logged.at(-1));
  expect({ args, status, body: status === 200 || body }).toEqual({ args, status: 200, body: true });
  return body.json;
}

/** The time on a clock in the zone, as if it were UTC. */
function clock(at: Date, timeZone: string): Date {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(at);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  return new Date(Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second")));
}
const iso = (date: Date) => date.toISOString().replace(".000Z", "+00:00");
function begin(unit: string, at: Date, timeZone: string): string {
  const local = clock(at, timeZone);
  if (unit === "hour") return iso(new Date(at.getTime() - (local.getTime() % 3_600_000)));
  const weekday = (local.getUTCDay() + 6) % 7;
  const [y, m, d] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  const start = { day: [y, m, d], week: [y, m, d - weekday], month: [y, m, 1], year: [y, 0, 1] }[unit] as [
    number,
    number,
    number,
  ];
  return new Date(Date.UTC(...start)).toISOString().slice(0, 10);
}
function groupValue(sale: Sale, name: string, timeZone: string): string | number | boolean | null {
  const [property = "", unit] = name.split(":");
  const value = sale[property as keyof Sale];
  if (value === null) return null;
  if (unit === undefined) return typeof value === "bigint" ? String(value) : (value as string);
  return property === "day" ? begin(unit, new Date(value as string), "UTC") : begin(unit, value as Date, timeZone);
}
const cents = (value: number) =>
  `${value < 0 ? "-" : ""}${Math.trunc(Math.abs(value) / 100)}.${String(Math.abs(value) % 100).padStart(2, "0")}`;
function measured(rows: Sale[], name: string): unknown {
  if (name === "count") return rows.length;
  const [by, property = ""] = name.split(":");
  const values = rows.flatMap((row) => row[property as keyof Sale] ?? []) as (number & bigint & Date & string)[];
  if (values.length === 0) return null;
  const sum = values.reduce(
    (total, value) => ((total as number) + (value as number)) as never,
    (property === "total" ? 0n : 0) as never,
  );
  const least = values.reduce((one, other) => (other < one ? other : one));
  const most = values.reduce((one, other) => (other > one ? other : one));
  const found = { sum, min: least, max: most, avg: Number(sum) / values.length }[by as "sum"] as number | bigint | Date;
  if (found instanceof Date) return iso(found);
  if (by === "avg") return expect.closeTo(property === "amount" ? (found as number) / 100 : (found as number), 6);
  if (property === "amount") return cents(found as number);
  return typeof found === "bigint" || name === "sum:pieces" ? String(found) : found;
}

// biome-ignore format: a table
const groups = ["status", "isPaid", "pieces", "total", "soldAt:hour", "soldAt:day", "soldAt:week", "soldAt:month", "soldAt:year",
  "seenAt:hour", "seenAt:day", "seenAt:week", "day:day", "day:week", "day:month", "day:year"];
// biome-ignore format: a table
const measures = ["count", "sum:amount", "avg:amount", "min:amount", "max:amount", "sum:pieces", "avg:pieces", "min:pieces",
  "max:total", "sum:total", "sum:weight", "avg:weight", "min:soldAt", "max:seenAt", "min:day"];
const compare = (a: unknown, b: unknown) => {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return (a as number) < (b as number) ? -1 : 1;
};

test(`${runs} random aggregates are those of the visible rows`, { timeout: 3_600_000 }, async () => {
  const sizes = new Set<number>();
  for (let number = 0; number < runs; number++) {
    const user = pick(users);
    const timeZone = pick(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"]);
    const groupBy = some(groups, 3);
    const asked = [pick(measures)].concat(some(measures, 4)).filter((one, at, all) => all.indexOf(one) === at);
    const isPaid = pick([undefined, true, false]);
    const search = pick([undefined, undefined, "", "A", "%"]);
    const order = pick([
      undefined,
      ...groupBy.filter((name) => name !== "total"),
      ...asked.filter((one) => one === "count" || one === "min:pieces"),
    ]);
    const direction = pick(["asc", "desc"]);
    const limit = pick([1, 3, 100, 1000]);
    const args = {
      timeZone,
      groupBy,
      measures: asked,
      limit,
      ...(isPaid !== undefined && { filters: { isPaid } }),
      ...(search !== undefined && { search }),
      ...(order && { orderBy: { [order]: direction } }),
    };
    const rows = sold.filter(
      (one) =>
        one.userId === user.id &&
        !one.gone &&
        (isPaid === undefined || one.isPaid === isPaid) &&
        (!search || one.status?.toUpperCase().includes(search)),
    );
    const byKey = new Map<string, Sale[]>(groupBy.length === 0 ? [["[]", []]] : []);
    for (const row of rows) {
      const key = JSON.stringify(groupBy.map((name) => groupValue(row, name, timeZone)));
      byKey.set(key, [...(byKey.get(key) ?? []), row]);
    }
    const all = [...byKey].map(([key, members]) => {
      const keys = (JSON.parse(key) as unknown[]).map((value, at) => [groupBy[at], value]);
      return {
        keys: JSON.parse(key) as unknown[],
        row: Object.fromEntries([...keys, ...asked.map((name) => [name, measured(members, name)])]),
      };
    });
    all.sort((a, b) => {
      const [x, y] = order ? [a.row[order], b.row[order]] : [0, 0];
      const first = x === null || y === null || direction === "asc" ? compare(x, y) : -compare(x, y);
      const rest = a.keys.map((value, at) => compare(value, b.keys[at])).find((one) => one !== 0);
      return first || rest || 0;
    });
    const { data, hasMore } = await done(user, args);
    const numbers = data.map((row: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          name.startsWith("avg:") && value !== null ? Number(value) : value,
        ]),
      ),
    );
    const what = `FUZZ_SEED=${seed}, case ${number}: ${JSON.stringify(args)}`;
    expect(numbers, what).toEqual(all.slice(0, limit).map(({ row }) => row));
    expect(hasMore, what).toBe(all.length > limit);
    sizes.add(data.length);
  }
  expect(sizes.size).toBeGreaterThan(5);
});

describe("aggregate", () => {
  test("counts all visible rows without groups, and nothing for those who see none", async () => {
    const own = (user: User) => sold.filter((one) => one.userId === user.id && !one.gone).length;
    for (const user of users) {
      expect(await done(user, { measures: ["count"] })).toEqual({ data: [{ count: own(user) }], hasMore: false });
    }
    const cid = await running.signUp("cid");
    expect((await done(cid, { measures: ["count", "sum:amount"] })).data).toEqual([{ count: 0, "sum:amount": null }]);
    expect((await done(cid, { groupBy: ["status"], measures: ["count"] })).data).toEqual([]);
    expect((await aggregate(null, { measures: ["count"] })).status).toBe(401);
  });

  test("shows at most 100 groups unless asked, and 1,000 in any case", async () => {
    const [user] = users as [User];
    const groupBy = ["soldAt:hour", "seenAt:hour", "total"];
    const { data, hasMore } = await done(user, { groupBy, measures: ["count"] });
    expect([data.length, hasMore]).toEqual([100, true]);
    expect((await done(user, { groupBy, measures: ["count"], limit: 5_000 })).hasMore).toBe(false);
    expect((await done(user, { groupBy, measures: ["count"], limit: 0 })).data).toHaveLength(1);
  });

  test("says to those who watch it which table it follows", async () => {
    const { body } = await running.post(
      "/api/query",
      { name: "sales.aggregate", args: { measures: ["count"] }, watch: true },
      users[0],
    );
    expect(body).toMatchObject({ follows: expect.any(String), snapshot: expect.any(String) });
  });
});

describe("aggregate refuses", () => {
  test.for([
    ["no measure", { measures: [] }, ["measures"], "must name at least one"],
    ["measures that are no list", { measures: "count" }, ["measures"], "must be a list"],
    [
      "a measure that is not declared",
      { measures: ["count", "sum:secret"] },
      ["measures", 1],
      expect.stringContaining("must be one of count,"),
    ],
    ["a measure twice", { measures: ["count", "count"] }, ["measures", 1], expect.stringContaining("once")],
    [
      "a group that is not declared",
      { groupBy: ["secret"] },
      ["groupBy", 0],
      expect.stringContaining("must be one of status,"),
    ],
    ["a time without a unit", { groupBy: ["soldAt"] }, ["groupBy", 0], expect.stringContaining("soldAt:hour")],
    ["hours of a date", { groupBy: ["day:hour"] }, ["groupBy", 0], expect.stringContaining("must be one of")],
    ["an inherited name", { groupBy: ["constructor"] }, ["groupBy", 0], expect.stringContaining("must be one of")],
    [
      "an unknown time zone",
      { timeZone: "Mars/Base" },
      ["timeZone"],
      'must be the name of a time zone, such as Europe/Berlin; "Mars/Base" is not one',
    ],
    ["an offset", { timeZone: "+03:00" }, ["timeZone"], expect.stringContaining("+03:00")],
    [
      "an order by what is not asked for",
      { orderBy: { status: "asc" } },
      ["orderBy"],
      expect.stringContaining("must be one of groupBy"),
    ],
    [
      "an order in no direction",
      { orderBy: { count: "up" } },
      ["orderBy"],
      expect.stringContaining("must be one of groupBy"),
    ],
    ["a limit that is not a number", { limit: "ten" }, ["limit"], "must be a number"],
    ["a search that is no text", { search: 5 }, ["search"], expect.stringContaining("must be a string")],
    ["an argument that it does not take", { where: {} }, ["where"], expect.stringContaining("is no argument of")],
    [
      "a filter that a list would ignore",
      { filters: { secret: "x" } },
      ["filters", "secret"],
      expect.stringContaining("no condition"),
    ],
  ] as const)("%s", async ([, args, path, message]) => {
    const { status, body } = await aggregate(users[0] as User, { measures: ["count"], ...args });
    expect([status, body.code]).toEqual([400, "VALIDATION_FAILED"]);
    expect(body.issues).toContainEqual({ path, message });
  });
});
