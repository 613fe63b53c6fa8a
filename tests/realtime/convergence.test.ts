/**
 * Whatever happens, in the end every client shows what is in the database: random writes, lost connections, a reader
 * that is killed, a service that starts anew. `npm run chaos` does it for longer.
 */
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAuthClient, createSvcClient, type SvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { FlakyProxy } from "../support/flaky-proxy.ts";
import { apiWith, TestService } from "../support/service.ts";

const rounds = Number(process.env.CHAOS_ROUNDS ?? 4);
const clients = 8;
const db = database();
let running: TestService;
let proxy: FlakyProxy;
const open: SvcClient<typeof api>[] = [];
beforeAll(async () => {
  await db.sql("set synchronous_commit to on");
  running = new TestService(db, apiWith(), {});
  await running.start();
  proxy = await FlakyProxy.start(running.url);
});
afterAll(async () => {
  for (const client of open) client.close();
  await proxy.stop();
  await running.stop();
});

/** A client that shows notes of its user, and boards of its team, whose list has a scope. */
async function show(name: string, team: string) {
  const auth = createAuthClient(proxy.url, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api, baseUrl: proxy.url, auth });
  open.push(client);
  const user = await auth.signUp(`${name}-${crypto.randomUUID()}@example.com`, "correct horse", name);
  await client.mutate(api.memberships.create, { teamId: team });
  const shown = { notes: [] as string[], boards: [] as string[] };
  const args = { limit: 100, orderBy: "id", orderDir: "asc" } as const;
  client.watch(api.notes.list, args, ({ data }) => {
    shown.notes = data.map(({ title }) => title);
  });
  client.watch(api.team_boards.list, { ...args, filters: { teamId: team } }, ({ data }) => {
    shown.boards = data.map(({ name }) => name);
  });
  return { user, team, shown };
}
type Shown = Awaited<ReturnType<typeof show>>;

const titles = (rows: { title: string }[]) => rows.map(({ title }) => title);
async function truth({ user, team }: Shown): Promise<Shown["shown"]> {
  return {
    notes: titles(await db.sql("select title from notes where user_id = $1 order by id limit 100", [user.id])),
    boards: titles(await db.sql("select name as title from boards where team_id = $1 order by id limit 100", [team])),
  };
}

const pick = <T>(all: readonly T[]): T => all[randomInt(all.length)] as T;
let serial = 0;
async function write(everybody: Shown[]): Promise<void> {
  const { user, team } = pick(everybody);
  const name = `row ${serial++}`;
  const row = (table: string) => `(select id from ${table} order by random() limit 1)`;
  await pick([
    () => db.sql("insert into notes (user_id, title) values ($1, $2)", [user.id, name]),
    () => db.sql("insert into boards (team_id, name) values ($1, $2)", [team, name]),
    () => db.sql(`update notes set title = $1 where id = ${row("notes")}`, [name]),
    () => db.sql(`update notes set user_id = $1 where id = ${row("notes")}`, [user.id]),
    () => db.sql(`update boards set team_id = $1, name = $2 where id = ${row("boards")}`, [team, name]),
    () => db.sql(`delete from notes where id = ${row("notes")}`),
    () => db.sql(`delete from boards where id = ${row("boards")}`),
  ])();
}

const disasters: (() => Promise<unknown> | unknown)[] = [
  () => proxy.breakAll(),
  () =>
    db.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'walsender' and datname = current_database()",
    ),
  async () => {
    const { port } = new URL(running.url);
    await running.stop();
    await running.start(Number(port));
  },
];

test(
  "every client ends with what is in the database",
  async () => {
    const everybody = await Promise.all(Array.from({ length: clients }, (_, n) => show(`client${n}`, `team ${n % 3}`)));
    const agree = { timeout: 60_000, interval: 50 };
    for (let round = 0; round < rounds; round++) {
      const disaster = disasters[round % disasters.length];
      const at = randomInt(40);
      for (let n = 0; n < 40; n++) {
        await write(everybody);
        if (n === at) await disaster?.();
        if (n % 10 === 0) await sleep(randomInt(30));
      }
      for (const one of everybody) await expect.poll(() => one.shown, agree).toEqual(await truth(one));
      await expect
        .poll(() => open.map(({ realtime }) => realtime.getStatus()), agree)
        .toEqual(Array(clients).fill("live"));
    }
  },
  60_000 + rounds * 60_000,
);
