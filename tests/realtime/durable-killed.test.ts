// If this file fails, a process that is killed leaves messages that are stored and not delivered, or the other way round.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join as joinPath } from "node:path";
import { afterAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { secret } from "../support/service.ts";
import { Socket } from "../support/sockets.ts";
import { join, live, said } from "./durable-pages.ts";

const db = database();
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

async function start(): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(joinPath(import.meta.dirname, "../support/channel-child.ts"), [JSON.stringify(db.urls), secret]);
  children.push(child);
  const [{ url }] = await once(child, "message");
  return { child, url };
}
async function connect(url: string): Promise<Socket> {
  const socket = new Socket(`${url.replace("http", "ws")}/ws`);
  await socket.wait({ type: "status", flow: "live" });
  return socket;
}

test("what a killed process has stored is delivered, and what it has acknowledged is stored", async () => {
  const [one, two] = [await start(), await start()];
  for (let round = 0; round < 3; round++) {
    const query = `archive::{"id":"${round}"}`;
    const watcher = await connect(one.url);
    await join(watcher, query);
    const dying = round === 2 ? two : await start();
    const sender = await connect(dying.url);
    const { until } = await join(sender, query);
    expect(until).toBe(0);
    const send = (ref: number) => sender.send({ type: "send", query, event: "said", data: { text: String(ref) }, ref });
    for (let ref = 0; ref < 60; ref++) send(ref);
    const acknowledged = () =>
      sender.frames.flatMap(({ data }) => (data?.sent === undefined ? [] : [String(data.sent)]));
    await expect.poll(() => acknowledged().length, { timeout: 20_000, interval: 1 }).toBeGreaterThan(5 * round);
    dying.child.kill("SIGKILL");
    await once(dying.child, "exit");
    // PostgreSQL finishes the statement of a process that is gone.
    const running = () =>
      db.sql(
        "select from pg_stat_activity where state = 'active' and query ~ 'store_messages' and pid <> pg_backend_pid()",
      );
    await expect.poll(running, { timeout: 20_000 }).toEqual([]);

    const rows = await db.sql<{ id: string; text: string }>(
      `select m.id, m.body::json -> 'json' ->> 'text' as text
         from svc.channel_messages m join svc.channels c on c.id = m.channel_id where c.topic = $1 order by m.id`,
      [query],
    );
    const stored = rows.map(({ text }) => text);
    expect(acknowledged().filter((text) => !stored.includes(text))).toEqual([]);
    expect(said(await live(watcher, stored.length))).toEqual(stored);
    const own = said(await live(sender, 0));
    const back = await join(await connect(one.url), query, {
      after: own.length > 0 ? Number(rows[own.length - 1]?.id) : 0,
    });
    expect([...own, ...said(back.messages)]).toEqual(stored);
  }
});
