/**
 * In the end every client shows the data of the database: after random writes, lost connections, a killed reader, and a
 * killed and restarted service. `npm run chaos` does it with 200 clients and 20,000 writes.
 */
import { type ChildProcess, fork } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAuthClient, createSvcClient, type SvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { FlakyProxy } from "../support/flaky-proxy.ts";
import { secret } from "../support/service.ts";

const isLong = process.env.CHAOS_ROUNDS !== undefined;
const { rounds, writes, clients } = isLong
  ? { rounds: 20, writes: 1_000, clients: 200 }
  : { rounds: 3, writes: 40, clients: 8 };
const teams = Math.ceil(clients / 3);
const db = database();
let child: ChildProcess | undefined;
let proxy: FlakyProxy;
const open: SvcClient<typeof api>[] = [];

/** @returns the service's address */
async function startService(port = 0): Promise<string> {
  const file = join(import.meta.dirname, "../support/realtime-child.ts");
  child = fork(file, [JSON.stringify(db.urls), secret, String(port)]);
  const [{ url }] = await once(child, "message");
  return url;
}
async function killService(): Promise<void> {
  const gone = child?.exitCode === null ? once(child, "exit") : undefined;
  child?.kill("SIGKILL");
  await gone;
}
beforeAll(async () => {
  await db.sql("set synchronous_commit to on");
  proxy = await FlakyProxy.start(await startService());
});
afterAll(async () => {
  for (const client of open) client.close();
  await proxy.stop();
  await killService();
});

/** A client that shows notes of its user, and boards of its team in a list with a scope. */
async function show(name: string, team: string) {
  const auth = createAuthClient(proxy.url, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api, baseUrl: proxy.url, auth });
  open.push(client);
  const user = await auth.signUp(`${name}-${crypto.randomUUID()}@example.com`, "correct horse", name);
  await client.mutate(api.memberships.create, { teamId: team });
  const shown = { notes: [] as string[], boards: [] as string[] };
  const errors: string[] = [];
  const fail = (error: unknown) => void errors.push(String(error));
  const args = { limit: 100, orderBy: "id", orderDir: "asc" } as const;
  client.watch(
    api.notes.list,
    args,
    ({ data }) => {
      shown.notes = data.map(({ title }) => title);
    },
    fail,
  );
  client.watch(
    api.team_boards.list,
    { ...args, filters: { teamId: team } },
    ({ data }) => {
      shown.boards = data.map(({ name }) => name);
    },
    fail,
  );
  return { user, team, shown, client, errors };
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

const breakReader = () =>
  db.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'walsender' and datname = current_database()",
  );
async function killAndRestart(): Promise<void> {
  await killService();
  await startService(proxy.port);
}
/** Of twenty rounds, ten kill the service and five the reader of the log; some connections break in each. */
const disasters = [breakReader, killAndRestart, () => proxy.breakAll(), killAndRestart];

/** Waits until all clients show the database's state. @returns the duration in milliseconds */
async function converge(everybody: Shown[]): Promise<number> {
  const start = performance.now();
  for (const one of everybody) {
    const wanted = await truth(one);
    const about = () => `${one.user.email}, ${one.client.realtime.getStatus()}, ${one.errors.slice(-4).join("; ")}`;
    await expect
      .poll(() => one.shown, { interval: 20 })
      .toEqual(wanted)
      .catch((error) => {
        throw new Error(about(), { cause: error });
      });
  }
  return performance.now() - start;
}

test(
  "every client ends with what is in the database",
  async () => {
    const everybody: Shown[] = [];
    for (let n = 0; n < clients; n += 8) {
      const some = Array.from({ length: Math.min(8, clients - n) }, (_, m) => n + m);
      everybody.push(...(await Promise.all(some.map((n) => show(`client${n}`, `team ${n % teams}`)))));
    }
    const taken: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const at = randomInt(writes);
      for (let n = 0; n < writes; n++) {
        await write(everybody);
        if (n === at) await disasters[round % disasters.length]?.();
        if (n % 50 === 25) proxy.breakSome(0.05);
        if (n % 10 === 0) await sleep(randomInt(30));
      }
      taken.push(Math.round(await converge(everybody)));
      if (isLong) console.info(`round ${round + 1} of ${rounds}: the same everywhere after ${taken.at(-1)} ms`);
    }
    // Only when no other tests run at the same time.
    if (isLong) expect(Math.max(...taken)).toBeLessThan(5_000);
    const flows = () => open.map(({ realtime }) => realtime.getStatus());
    await expect.poll(flows).toEqual(Array(clients).fill("live"));
  },
  60_000 + rounds * 120_000,
);
