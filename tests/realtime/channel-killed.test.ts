// If this file fails, the members of a process that was killed are shown for ever, or those who come back are shown twice.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { presenceTimes } from "../../src/realtime/channel-presence.ts";
import { database } from "../support/database.ts";
import { secret } from "../support/service.ts";
import { Socket } from "../support/sockets.ts";

const db = database();
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

async function start(): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(join(import.meta.dirname, "../support/channel-child.ts"), [JSON.stringify(db.urls), secret]);
  children.push(child);
  const [{ url }] = await once(child, "message");
  return { child, url };
}

const query = 'lobby::{"n":1}';
async function enter(url: string, follows: string) {
  const socket = new Socket(`${url.replace("http", "ws")}/ws`);
  await socket.wait({ type: "status", flow: "live" });
  const shown = new Set<string>();
  const gone: string[] = [];
  socket.websocket.on("message", (text) => {
    const { data = {} } = JSON.parse(String(text));
    for (const { id } of data.members ?? data.set ?? []) shown.add(id);
    for (const id of data.gone ?? []) {
      shown.delete(id);
      gone.push(id);
    }
  });
  socket.send({ type: "subscribe", query, follows });
  const { member } = await socket.wait({ type: "subscribed", query });
  return { socket, shown, gone, id: member.id as string };
}

test("members of a killed process are gone within the time that the limits name; who comes back never is", async () => {
  const [one, two] = [await start(), await start()];
  const watcher = await enter(one.url, "the secret of the watcher");
  const moving = await enter(two.url, "the secret of one who moves");
  const lost = await enter(two.url, "the secret of one who is lost");
  await expect.poll(() => watcher.shown.size).toBe(3);
  two.child.kill("SIGKILL");
  await once(two.child, "exit");
  const back = await enter(one.url, "the secret of one who moves");
  expect(back.id).toBe(moving.id);
  const { silence, beat } = presenceTimes;
  await expect.poll(() => watcher.gone, { timeout: 3 * (silence + beat) }).toEqual([lost.id]);
  expect([...watcher.shown].sort()).toEqual([watcher.id, back.id].sort());
  back.socket.send({ type: "send", query, event: "said", data: { text: "here" }, ref: 1 });
  await watcher.socket.wait({
    data: { message: "said", body: { json: { text: "here" } }, from: { id: back.id, userId: null } },
  });
});
