/**
 * In the end every watched query of the author's own shows what a fresh call gives: joins, aggregates, functions, views,
 * partitions and policies, while several write, connections break, and processes are killed. Two processes share the
 * clients' connections, so that one answers a query and the other has the socket. Some clients watch what nobody writes:
 * their queries do not run again. `npm run chaos` does it with 200 clients, 41 queries and 20,000 writes.
 */
import { type ChildProcess, fork } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAuthClient, createSvcClient, type SvcClient } from "../../client/sdk/src/index.ts";
import type { Query } from "../../client/sdk/src/operation.ts";
import { defineApi } from "../../src/app/api.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { crud } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { FlakyProxy } from "../support/flaky-proxy.ts";
import { secret } from "../support/service.ts";
import { cutReader } from "../support/sockets.ts";
import { procedures, schema, tables } from "./live-application.ts";

const isLong = process.env.CHAOS_ROUNDS !== undefined;
const { rounds, writes, clients, quiet, perClient } = isLong
  ? { rounds: 20, writes: 1_000, clients: 200, quiet: 20, perClient: 5 }
  : { rounds: 2, writes: 60, clients: 8, quiet: 2, perClient: 8 };
const writers = 3;
const perWriter = Math.ceil(writes / writers);
const db = database();
const children: ChildProcess[] = [];
const urls: string[] = [];
let proxy: FlakyProxy;
const open: SvcClient<object>[] = [];

async function startService(at: number): Promise<void> {
  const port = urls[at] ? new URL(urls[at]).port : "0";
  const child = fork(join(import.meta.dirname, "../support/realtime-child.ts"), [
    JSON.stringify(db.urls),
    secret,
    port,
    "live",
  ]);
  children[at] = child;
  const [{ url }] = await once(child, "message");
  urls[at] = url;
}
async function killService(at: number): Promise<void> {
  const child = children[at];
  const gone = child?.exitCode === null ? once(child, "exit") : undefined;
  child?.kill("SIGKILL");
  await gone;
}
const killAndRestart = async (at: number) => {
  await killService(at);
  await startService(at);
};

beforeAll(async () => {
  await db.sql("set synchronous_commit to on");
  await db.sql(tables);
  const api = defineApi({ procedures: { ...crud, ...procedures } });
  await db.sql(realtimeFile(followedTables(api, schema)));
  await Promise.all([startService(0), startService(1)]);
  proxy = await FlakyProxy.start(...urls);
});
afterAll(async () => {
  for (const client of open) client.close();
  await proxy.stop();
  await Promise.all([killService(0), killService(1)]);
});

const tags = Array.from({ length: 16 }, (_, n) => `tag ${n}`);
const days = Array.from({ length: 17 }, (_, n) => n + 1);
const queries: { name: string; args: object }[] = [
  ...["mine", "teams", "ofTeams", "raw", "view", "cte", "called", "everybodys"].map((name) => ({
    name: `live.${name}`,
    args: {},
  })),
  ...tags.map((tag) => ({ name: "live.tagged", args: { tag } })),
  ...days.map((day) => ({ name: "live.partitioned", args: { day } })),
];

const pick = <T>(all: readonly T[]): T => all[randomInt(all.length)] as T;
const operation = (name: string) => ({ kind: "query", name }) as unknown as Query;

/** Nobody writes their team, nor what they own, nor the table of the last one. */
const quietTeam = "quiet";
const quietQueries = ["live.mine", "live.ofTeams", "live.tally"].map((name) => ({ name, args: {} }));

/** A client that shows some of the queries; the first ones show every kind, the last ones what does not change. */
async function show(number: number) {
  const auth = createAuthClient(proxy.url, { sessionTokenStorage: "memory" });
  /** How often a watched query was asked, by name and arguments. */
  const asked = new Map<string, number>();
  const counting: typeof fetch = (url, init) => {
    const { name, args, watch } = typeof init?.body === "string" ? JSON.parse(init.body) : {};
    const key = name + JSON.stringify(args ?? {});
    if (watch) asked.set(key, (asked.get(key) ?? 0) + 1);
    return fetch(url, init);
  };
  const client = createSvcClient({ api: {}, baseUrl: proxy.url, auth, fetch: counting });
  open.push(client);
  const user = await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  const isQuiet = number >= clients - quiet;
  if (isQuiet) await db.sql("insert into memberships (user_id, team_id) values ($1, $2)", [user.id, quietTeam]);
  const watched = isQuiet
    ? quietQueries
    : Array.from({ length: perClient }, (_, n) => queries[number * perClient + n] ?? pick(queries));
  const pages = watched.map(({ name, args }) => {
    const runs = () => asked.get(name + JSON.stringify(args)) ?? 0;
    const page = { client, name, args, isQuiet, runs, shown: undefined as unknown };
    client.watch(
      operation(name),
      args as never,
      (result) => {
        page.shown = result;
      },
      () => {}, // of a killed process; the client asks again
    );
    return page;
  });
  return { user, pages };
}

const row = (table: string) => `(select id from ${table} order by random() limit 1)`;
const write = (users: string[]) =>
  pick([
    () => db.sql("insert into notes (user_id, title) values ($1, $2)", [pick(users), pick(tags)]),
    () => db.sql(`update notes set user_id = $1 where id = ${row("notes")}`, [pick(users)]),
    () => db.sql(`delete from notes where id = ${row("notes")}`),
    () => db.sql("insert into memberships (user_id, team_id) values ($1, $2)", [pick(users), pick(tags)]),
    () => db.sql(`delete from memberships where id = ${row(`memberships where team_id <> '${quietTeam}'`)}`),
    () => db.sql("insert into boards (team_id, name) values ($1, $2)", [pick(tags), pick(tags)]),
    () => db.sql(`update boards set team_id = $1 where id = ${row("boards")}`, [pick(tags)]),
    () => db.sql("insert into places (team_id, name) values ($1, $2)", [pick(tags), pick(tags)]),
    () => db.sql(`update places set team_id = $1 where id = ${row("places")}`, [pick(tags)]),
    () => db.sql(`delete from places where id = ${row("places")}`),
    () => db.sql("insert into guestbook (message) values ($1)", [pick(tags)]),
    () => db.sql(`delete from guestbook where id = ${row("guestbook")}`),
    () => db.sql("insert into posts (user_id, title) values ($1, $2)", [pick(users), pick(tags)]),
    () => db.sql(`delete from posts where id = ${row("posts")}`),
    () => db.sql("insert into visits values ($1, $2) on conflict do nothing", [pick(days), pick(tags)]),
    () => db.sql("delete from visits where page = $1", [pick(tags)]),
  ])();

test(
  "every watched query ends with what a fresh read gives",
  async () => {
    const everybody: Awaited<ReturnType<typeof show>>[] = [];
    for (let n = 0; n < clients; n += 5) {
      const some = Array.from({ length: Math.min(5, clients - n) }, (_, m) => n + m);
      everybody.push(...(await Promise.all(some.map(show))));
    }
    const users = everybody.slice(0, -quiet).map(({ user }) => user.id);
    const pages = everybody.flatMap((one) => one.pages);
    const loud = pages.filter(({ isQuiet }) => !isQuiet);
    expect(new Set(loud.map(({ name, args }) => name + JSON.stringify(args))).size).toBeGreaterThanOrEqual(40);
    /** @param disturb called behind one of the writes */
    const writeAll = (disturb?: () => unknown) => {
      const at = randomInt(perWriter);
      const writer = async (which: number) => {
        for (let n = 0; n < perWriter; n++) {
          await write(users);
          if (which === 0 && n === at) await disturb?.();
          if (disturb && n % 50 === 25) proxy.breakSome(0.05);
        }
      };
      return Promise.all(Array.from({ length: writers }, (_, which) => writer(which)));
    };
    const converge = async (what: string) => {
      const start = performance.now();
      for (const page of pages) {
        const about = `${page.name} ${JSON.stringify(page.args)}`;
        const fresh = await page.client.query(operation(page.name), page.args as never);
        await expect.poll(() => page.shown, { interval: 20, message: about }).toEqual(fresh);
      }
      if (isLong) console.info(`${what}: the same everywhere after ${Math.round(performance.now() - start)} ms`);
    };

    const cutAndKill = () => cutReader(db).then(() => killAndRestart(1));
    const disasters = [() => killAndRestart(0), cutAndKill, () => proxy.breakAll()];
    for (let round = 0; round < rounds; round++) {
      await writeAll(disasters[round % disasters.length]);
      await converge(`round ${round + 1}`);
    }

    // Connections that break make every query run again. Without such, those that cannot have changed do not run.
    const isLive = () => pages.every(({ client }) => client.realtime.getStatus() === "live");
    await expect.poll(isLive).toBe(true);
    await converge("connected again");
    const before = pages.map(({ runs }) => runs());
    const start = performance.now();
    await writeAll();
    await converge("without faults");
    const minutes = Math.ceil((performance.now() - start) / 60_000);
    const more = pages.map(({ name, isQuiet, runs }, at) => ({ name, isQuiet, times: runs() - (before[at] ?? 0) }));
    expect(more.filter(({ isQuiet, times }) => isQuiet && times > minutes)).toEqual([]);
    const of = (some: typeof more) => some.reduce((sum, { times }) => sum + times, 0);
    expect(of(more.filter(({ isQuiet }) => !isQuiet))).toBeGreaterThan(0);
    if (isLong) {
      const idle = of(more.filter(({ isQuiet }) => isQuiet));
      console.info(
        `${writers * perWriter} writes without faults: ${of(more)} runs of ${pages.length} queries, ${idle} of quiet ones`,
      );
    }
  },
  120_000 + rounds * 120_000,
);
