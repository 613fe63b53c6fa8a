/**
 * Lists with filter, search and cursor, update and remove: whether they stay flat as tables grow from 1e3 to 1e6 rows, or
 * to 1e7 with `--large`, and how they compare with PostGraphile 5 and hand-written Drizzle. `--plans` prints the plans.
 * Next hop: `lists/setting.ts` makes the database, `lists/growth.ts` and `lists/peers.ts` measure.
 */
import { loadavg } from "node:os";
import type pg from "pg";
import { compareCursor } from "./lists/cursors.ts";
import { type Call, printGrowth, printSizes, type Series } from "./lists/growth.ts";
import { comparePeers } from "./lists/peers.ts";
import { printPlans } from "./lists/plans.ts";
import { fill, fillDeep } from "./lists/rows.ts";
import { createSetting, type Setting, type User } from "./lists/setting.ts";
import { ask } from "./lists/sides.ts";

const tables = [
  { size: "1e3", rows: 1e3, table: "items_1e3" },
  { size: "1e4", rows: 1e4, table: "items_1e4" },
  { size: "1e5", rows: 1e5, table: "items_1e5" },
  { size: "1e6", rows: 1e6, table: "items" },
  { size: "1e7", rows: 1e7, table: "items_1e7" },
];
const depths = ["1e3", "1e4", "1e5", "1e6"];
const pageSize = 20;

export async function run(): Promise<void> {
  const sizes = process.argv.includes("--large") ? tables : tables.slice(0, 4);
  const setting = await createSetting();
  try {
    const { admin } = setting;
    const user = await setting.user("user");
    const other = await setting.user("other");
    const owners: User[] = [];
    for (const depth of depths) owners.push(await setting.user(`owner-${depth}`));
    for (const { table, rows } of sizes) await fill(admin, table, rows, user.id);
    await fillDeep(
      admin,
      owners.map(({ id }, index) => ({ id, rows: Number(depths[index]) })),
    );
    // What docs/reference/filters.md tells who filters by priority; the title, filtered and searched, goes without.
    for (const table of [...sizes.map(({ table }) => table), "deep_items"]) {
      await admin.query(`create index on ${table} (user_id, priority, created_at desc, id desc)`);
    }
    await admin.query("checkpoint");
    printLoad();

    const everybody = [user, other, ...owners];
    await setting.renew(everybody);
    const reading = listSeries(sizes, user);
    const deep = await cursorSeries(setting, owners);
    if (process.argv.includes("--plans")) {
      for (const { title, calls } of [...reading, ...deep]) {
        for (const call of calls) await printPlans(setting, title, call);
      }
    }
    printSizes(
      "Rows in the table, 1,000 of them the caller's; p50 in ms",
      sizes.map(({ size }) => size),
    );
    await printGrowth(setting, reading);
    printSizes("Rows of the caller, cursor, count none; p50 in ms", depths);
    await printGrowth(setting, deep);

    await setting.renew(everybody);
    await compareCursors(setting, owners[2] as User);

    await setting.renew(everybody);
    await comparePeers(setting, user, other);

    // Last, since it changes what the others read.
    await setting.renew(everybody);
    printSizes(
      "Rows in the table, 1,000 of them the caller's; p50 in ms",
      sizes.map(({ size }) => size),
    );
    await printGrowth(setting, await writingSeries(setting, sizes, user));
    printLoad();
  } finally {
    await setting.close();
  }
}

const printLoad = () =>
  console.info(
    `Load of the machine: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(", ")} (1, 5, 15 minutes)`,
  );

type Sized = (typeof tables)[number];

function listSeries(sizes: Sized[], user: User): Series[] {
  const series = (title: string, args: Record<string, unknown>) => ({
    title,
    calls: sizes.map(({ size }): Call => ({ user, prefix: `items_${size}`, operation: "list", args: () => args })),
  });
  return [
    series("list", {}),
    series("page 50", { page: 50 }),
    series("filter, 34 rows match", { filters: { done: true, priority: 6 } }),
    series("filter, none matches", { filters: { priority: { op: "gt", value: 10 } } }),
    series("the same without an index", { filters: { title: "no such thing" } }),
    series("search, 11 rows match", { search: "number 99" }),
    series("search, none matches", { search: "no such thing" }),
    series("order by title", { orderBy: "title" }),
    series("cursor, first page, counted", { cursor: null }),
  ];
}

/** Updates of rows here and there, and removal of some of the thousand. */
async function writingSeries({ admin }: Setting, sizes: Sized[], user: User): Promise<Series[]> {
  const ids: number[][] = [];
  for (const { table } of sizes) ids.push(await idsOf(admin, table, user));
  const calls = (operation: Call["operation"], args: (id: number | undefined) => Record<string, unknown>) =>
    sizes.map(({ size }, index): Call => {
      const own = ids[index] ?? [];
      let turn = 0;
      const next = () => (operation === "remove" ? own.pop() : own[(turn++ * 37) % own.length]);
      return { user, prefix: `items_${size}`, operation, args: () => args(next()) };
    });
  return [
    { title: "update", calls: calls("update", (id) => ({ id, title: "changed" })) },
    { title: "remove", calls: calls("remove", (id) => ({ id })) },
  ];
}

async function idsOf(admin: pg.Client, table: string, user: User): Promise<number[]> {
  const { rows } = await admin.query<{ id: number }>(`select id from ${table} where user_id = $1 order by id`, [
    user.id,
  ]);
  return rows.map(({ id }) => id);
}

/** The page at a share of each owner's rows. */
async function cursorSeries(setting: Setting, owners: User[]): Promise<Series[]> {
  const series = async (title: string, pageOf: (last: number) => number, args: Record<string, unknown> = {}) => {
    const calls: Call[] = [];
    for (const [index, user] of owners.entries()) {
      const cursor = await cursorOf(setting, user, pageOf(Number(depths[index]) / pageSize), args);
      calls.push({ user, prefix: "deep_items", operation: "list", args: () => ({ ...args, cursor }) });
    }
    return { title, calls };
  };
  const filters = { done: true };
  return [
    await series("page 1", () => 1),
    await series("page 1,000 or last", (last) => Math.min(1000, last)),
    await series("the last page", (last) => last),
    await series("page 1 of a matching third", () => 1, { filters }),
    await series("page 1,000 or last of a third", (last) => Math.min(1000, Math.floor(last / 3)), { filters }),
    await series("the last page of a third", (last) => Math.floor(last / 3), { filters }),
    await series("page 1, none matches", () => 1, { filters: { priority: { op: "gt", value: 10 } } }),
    // Looks at every row of the owner, so a few rounds have to do.
    { ...(await series("the same without an index", () => 1, { filters: { title: "no such thing" } })), rounds: 3 },
  ];
}

const deepPages: [title: string, page: number, args: Record<string, unknown>][] = [
  ["the second page by cursor of 100,000 rows", 2, {}],
  ["page 1,000", 1000, {}],
  ["page 1,000 of a matching third", 1000, { filters: { done: true } }],
];

async function compareCursors(setting: Setting, user: User): Promise<void> {
  for (const [title, page, args] of deepPages) {
    const cursor = await cursorOf(setting, user, page, args);
    await compareCursor(setting, title, user, { ...args, cursor });
  }
}

interface Page {
  json: { data: { id: number }[]; nextCursor: string | null };
}

/**
 * Where a page begins. Going there page by page would take minutes, so the first page's cursor is given the place of the
 * row before; the answer is compared with the rows that are there.
 */
async function cursorOf({ svc, admin }: Setting, user: User, page: number, args: object): Promise<string | null> {
  if (page === 1) return null;
  const side = { process: svc, headers: ({ token }: User) => ({ authorization: `Bearer ${token}` }) };
  const list = (cursor: string | null) =>
    ask<Page>(side, user, { path: "/api/query", body: { name: "deep_items.list", args: { ...args, cursor } } });
  const first = (await list(null)).json.nextCursor ?? "";
  const [listName] = JSON.parse(Buffer.from(first, "base64url").toString()) as [string];
  const { rows } = await admin.query<{ id: number; at: string }>(
    `select id, created_at::text as at from deep_items where user_id = $1 and (done or $2)
      order by created_at desc, id desc limit $3 offset $4`,
    [user.id, !("filters" in args), pageSize + 1, (page - 1) * pageSize - 1],
  );
  const [before, ...expected] = rows;
  const cursor = Buffer.from(JSON.stringify([listName, before?.at, String(before?.id)])).toString("base64url");
  const got = (await list(cursor)).json.data.map(({ id }) => id);
  if (JSON.stringify(got) !== JSON.stringify(expected.map(({ id }) => id))) throw new Error(`page ${page} is another`);
  return cursor;
}
