/** Watching queries of the author's own with the SDK: they follow what they read, at a bounded price. */
import { randomInt } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createAuthClient, createSvcClient, type SvcClient } from "../../client/sdk/src/index.ts";
import type { Query } from "../../client/sdk/src/operation.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { procedures, runs, schema, tables } from "../realtime/live-application.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";
import { cutReader } from "../support/sockets.ts";

const db = database();
const api = apiWith({ procedures });
const running = new TestService(db, api, {}, schema);
beforeAll(async () => {
  await db.sql("set synchronous_commit to on");
  await db.sql(tables);
  await db.sql(realtimeFile(followedTables(api, schema)));
  await running.start();
});
afterAll(() => running.stop());
const open: SvcClient<object>[] = [];
afterEach(() => {
  for (const client of open.splice(0)) client.close();
  vi.restoreAllMocks();
});

const operation = (name: string) => ({ kind: "query", name }) as unknown as Query;

async function signedUp() {
  const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api: {}, baseUrl: running.url, auth });
  open.push(client);
  const user = await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  return { client, user };
}

/** @returns what a page would show */
function show(client: SvcClient<object>, name: string, args: object = {}) {
  const shown = { result: undefined as unknown, errors: [] as unknown[] };
  const stop = client.watch(
    operation(name),
    args as never,
    (result) => {
      shown.result = result;
    },
    (error) => shown.errors.push(error),
  );
  return { shown, stop };
}
const live = (client: SvcClient<object>) => expect.poll(() => client.realtime.getStatus()).toBe("live");

test("a watched query of one's own follows every change of what it reads", async () => {
  const { client, user } = await signedUp();
  const { shown } = show(client, "live.mine");
  await live(client);
  await expect.poll(() => shown.result).toEqual([]);
  await db.sql("insert into notes (user_id, title) values ($1, 'a')", [user.id]);
  await expect.poll(() => shown.result).toEqual([{ title: "a" }]);
  await cutReader(db);
  await db.sql("insert into notes (user_id, title) values ($1, 'b')", [user.id]);
  await expect.poll(() => shown.result, { timeout: 20_000 }).toEqual([{ title: "a" }, { title: "b" }]);
});

test("changes of other owners' rows do not make it ask again", async () => {
  const [ann, bob] = [await signedUp(), await signedUp()];
  const { shown } = show(ann.client, "live.mine");
  await live(ann.client);
  await db.sql("insert into notes (user_id, title) values ($1, 'hers')", [ann.user.id]);
  await expect.poll(() => shown.result).toEqual([{ title: "hers" }]);
  const before = runs.get("live.mine") ?? 0;
  for (let n = 0; n < 50; n++) await db.sql("insert into notes (user_id, title) values ($1, 'his')", [bob.user.id]);
  await db.sql("insert into notes (user_id, title) values ($1, 'also hers')", [ann.user.id]);
  await expect.poll(() => shown.result).toEqual([{ title: "hers" }, { title: "also hers" }]);
  expect((runs.get("live.mine") ?? 0) - before).toBeLessThan(5); // for her own, and what was still on its way
});

test("a thousand commits cost few runs, and the last one shows them all", async () => {
  const { client } = await signedUp();
  await db.sql("truncate guestbook");
  const { shown } = show(client, "live.closed");
  await live(client);
  await expect.poll(() => shown.result).toBe(0);
  const before = runs.get("live.closed") ?? 0;
  for (let n = 0; n < 1_000; n++) await db.sql("insert into guestbook (message) values ('x')");
  await expect.poll(() => shown.result, { timeout: 20_000 }).toBe(1_000);
  const more = (runs.get("live.closed") ?? 0) - before;
  expect(more).toBeGreaterThan(0);
  expect(more).toBeLessThan(50);
});

test("what the service cannot follow is said on the console, once", async () => {
  const said = vi.spyOn(console, "warn").mockImplementation(() => {});
  const { client } = await signedUp();
  const { shown } = show(client, "live.untold");
  await expect.poll(() => shown.result).toBeDefined();
  await client["~svc"].refetch(operation("live.untold"), {});
  const told = said.mock.calls.map(([text]) => String(text)).filter((text) => text.startsWith("svc: "));
  expect(told).toEqual([expect.stringContaining('Those who watch "live.untold" miss changes.')]);
});

const pick = <T>(all: readonly T[]): T => all[randomInt(all.length)] as T;
const rounds = Number(process.env.FUZZ_RUNS ?? process.env.CHAOS_ROUNDS ?? 0) > 0 ? 30 : 3;

test(
  "whatever is written, every watched query ends with what a fresh read gives",
  async () => {
    const everybody = await Promise.all(Array.from({ length: 4 }, signedUp));
    const queries = ["live.mine", "live.teams", "live.raw", "live.view", "live.cte", "live.called", "live.everybodys"];
    const watched = everybody.flatMap(({ client }) => [
      ...queries.map((name) => ({ client, name, args: {}, ...show(client, name) })),
      ...[3, 13].map((day) => {
        const [name, args] = ["live.partitioned", { day }];
        return { client, name, args, ...show(client, name, args) };
      }),
    ]);
    const users = everybody.map(({ user }) => user.id);
    const row = (table: string) => `(select id from ${table} order by random() limit 1)`;
    const name = () => pick(["red", "green", "blue"]);
    const write = () =>
      pick([
        () => db.sql("insert into notes (user_id, title) values ($1, $2)", [pick(users), name()]),
        () => db.sql(`update notes set user_id = $1 where id = ${row("notes")}`, [pick(users)]),
        () => db.sql(`delete from notes where id = ${row("notes")}`),
        () => db.sql("insert into memberships (user_id, team_id) values ($1, $2)", [pick(users), name()]),
        () => db.sql(`delete from memberships where id = ${row("memberships")}`),
        () => db.sql("insert into boards (team_id, name) values ($1, $2)", [name(), name()]),
        () => db.sql(`update boards set team_id = $1 where id = ${row("boards")}`, [name()]),
        () => db.sql("insert into guestbook (message) values ($1)", [name()]),
        () => db.sql(`delete from guestbook where id = ${row("guestbook")}`),
        () => db.sql("insert into posts (user_id, title) values ($1, $2)", [pick(users), name()]),
        () => db.sql(`delete from posts where id = ${row("posts")}`),
        () => db.sql("insert into visits values ($1, $2) on conflict do nothing", [pick([3, 13]), name()]),
        () => db.sql("update visits set day = $1 where page = $2 and day <> $1", [3, name()]).catch(() => {}),
        () => db.sql("delete from visits where page = $1", [name()]),
      ])();
    for (let round = 0; round < rounds; round++) {
      for (let n = 0; n < 60; n++) await write();
      if (round % 3 === 1) await cutReader(db);
      for (const one of watched) {
        const fresh = await one.client.query(operation(one.name), one.args as never);
        await expect.poll(() => one.shown.result, { timeout: 30_000, message: one.name }).toEqual(fresh);
      }
    }
    expect(watched.flatMap(({ shown }) => shown.errors)).toEqual([]);
  },
  60_000 + rounds * 30_000,
);
