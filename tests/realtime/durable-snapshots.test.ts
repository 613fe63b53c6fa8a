// If this file fails, a server that begins again with an older copy of its disk gives numbers of lost messages to new ones.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { open, temporary } from "../postgres/clusters.ts";
import { root } from "../support/global-setup.ts";

test("the copy of a server's disk, and the same server after a restart, repeat no number", async () => {
  const place = temporary();
  const started = async () => {
    const cluster = await open(place);
    const client = new pg.Client({ connectionString: cluster.urls.admin });
    await client.connect();
    return { cluster, client, data: join(cluster.directory ?? "", "data"), end: () => client.end() };
  };
  type Server = Awaited<ReturnType<typeof started>>;
  const stop = async ({ cluster, end }: Server) => {
    await end();
    await cluster.stop();
  };
  const store = async ({ client }: Server, ...texts: string[]) => {
    const message = { name: "room", topic: "room", message: "said", keep: 3_600_000, max: 100 };
    const all = JSON.stringify(texts.map((text) => ({ ...message, body: JSON.stringify(text) })));
    await client.query("select svc.store_messages($1)", [all]);
    return stored(client);
  };
  const stored = async (client: pg.Client) =>
    (await client.query("select id::float8, body from svc.channel_messages order by id")).rows as {
      id: number;
      body: string;
    }[];
  const after = async ({ client }: Server, id: number) => {
    const { rows } = await client.query("select svc.read_messages('room', $1, 100, 100000) as page", [id]);
    const { gap, messages } = JSON.parse(rows[0].page);
    return [gap, messages.map(({ body }: { body: string }) => body)];
  };

  let server = await started();
  await migrate({ adminUrl: server.cluster.urls.admin, platform: root });
  const [first] = await store(server, "1");
  await stop(server);
  const copy = join(place, "copy");
  execFileSync("cp", ["-a", server.data, copy]);
  onTestFinished(() => void execFileSync("rm", ["-rf", copy]));

  server = await started();
  const [, ...lost] = await store(server, "lost", "lost too");
  expect(await after(server, Number(first?.id))).toEqual([false, ["lost", "lost too"]]);
  await stop(server);
  execFileSync("rm", ["-rf", server.data]);
  execFileSync("cp", ["-a", copy, server.data]);

  server = await started();
  for (const { id } of lost) expect(await after(server, id)).toEqual([true, ["1"]]);
  const now = await store(server, "2", "3", "4");
  expect(now.map(({ body }) => body)).toEqual(['"1"', '"2"', '"3"', '"4"']);
  expect(now.filter(({ id }) => lost.some((one) => one.id === id))).toEqual([]);
  expect(Math.min(...now.slice(1).map(({ id }) => id))).toBeGreaterThan(Math.max(...lost.map(({ id }) => id)));
  for (const { id } of lost) expect(await after(server, id)).toEqual([true, ["1", "2", "3", "4"]]);
  expect(await after(server, Number(first?.id))).toEqual([false, ["2", "3", "4"]]);
  await stop(server);
});
