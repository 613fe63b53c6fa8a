// If this file fails, a server that has lost its last commits in a crash gives their numbers to other messages: a page that has read
// the lost ones never gets these.
import pg from "pg";
import { expect, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { ask, open, temporary } from "../postgres/clusters.ts";
import { root } from "../support/global-setup.ts";

test("a server that loses commits when one of its processes is killed repeats no number", async () => {
  const { urls } = await open(temporary());
  await migrate({ adminUrl: urls.admin, platform: root });
  const connect = async () => {
    const client = new pg.Client({ connectionString: urls.admin });
    client.on("error", () => {}); // it is killed
    await client.connect();
    await client.query("set synchronous_commit to off");
    return client;
  };
  const store = (client: pg.Client, text: string) => {
    const message = { name: "room", topic: "room", message: "said", keep: 3_600_000, max: 100 };
    return client.query("select svc.store_messages($1)", [
      JSON.stringify([{ ...message, body: JSON.stringify(text) }]),
    ]);
  };
  const read = async (client: pg.Client, after: number | null) => {
    const { rows } = await client.query("select svc.read_messages('room', $1, 100, 100000) as page", [after]);
    const { gap, until, messages } = JSON.parse(rows[0].page);
    return { gap, until, said: messages.map(({ body }: { body: string }) => body) };
  };

  let client = await connect();
  await store(client, "1");
  await client.query("checkpoint");
  const { rows } = await client.query("select pid from pg_stat_activity where backend_type = 'walwriter'");
  process.kill(rows[0].pid, "SIGSTOP"); // nothing more reaches the disk
  await store(client, "lost");
  const before = await read(client, null);
  expect(before.said).toEqual(["1", "lost"]);
  const run = () => ask<string>(urls.admin, "select svc.server_incarnation()").catch(() => first);
  const first = await ask<string>(urls.admin, "select svc.server_incarnation()");
  const { rows: own } = await client.query("select pg_backend_pid() as pid");
  process.kill(own[0].pid, "SIGKILL");
  await expect.poll(run, { timeout: 30_000 }).not.toBe(first);

  client = await connect();
  expect((await read(client, null)).said).toEqual(["1"]);
  await store(client, "2");
  expect(await read(client, before.until)).toMatchObject({ gap: true, said: ["1", "2"] });
  await client.end();
});
