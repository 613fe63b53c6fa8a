// If this file fails, presence as in docs/how-to/presence.md shows strangers who is online.
import { afterEach, expect, test } from "vitest";
import { Socket } from "../support/sockets.ts";
import { documented } from "./documented.ts";

const { db, person, post, lint, url } = documented("docs/how-to/presence.md");
const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

async function connect(token: string): Promise<Socket> {
  const { body } = await post("/api/realtime/ticket", {}, token);
  const socket = new Socket(`${url().replace("http", "ws")}/ws?ticket=${body.ticket}`);
  open.push(socket);
  await socket.wait({ type: "status", flow: "live" });
  return socket;
}

test("members see who is online and types; strangers see nothing, and who is removed is put out", async () => {
  const [ann, bob, eve] = await Promise.all(["ann", "bob", "eve"].map(person));
  await db.sql("insert into memberships (team_id, user_id) values (1, $1), (1, $2), (2, $3)", [
    ann.user.id,
    bob.user.id,
    eve.user.id,
  ]);
  const query = 'team::{"teamId":1}';
  const [one, two, three] = await Promise.all([ann, bob, eve].map(({ token }) => connect(token)));
  three?.send({ type: "subscribe", query });
  await three?.wait({ type: "error", code: "FORBIDDEN", query });
  for (const socket of [one, two]) {
    socket?.send({ type: "subscribe", query });
    await socket?.wait({ type: "subscribed", query });
  }
  one?.send({ type: "track", query, state: { typing: true }, ref: 1 });
  const shown = () =>
    two?.frames.flatMap(({ data }) => data?.members ?? data?.set ?? []).findLast(({ id }) => id === ann.user.id)?.state;
  await expect.poll(shown).toEqual({ json: { typing: true } });
  await db.sql("delete from memberships where user_id = $1", [bob.user.id]);
  await two?.wait({ type: "error", code: "FORBIDDEN", query });
});

test("members of a team read its chat later; strangers, and who is removed, do not", async () => {
  const [cleo, dan, fay] = await Promise.all(["cleo", "dan", "fay"].map(person));
  await db.sql("insert into memberships (team_id, user_id) values (3, $1), (3, $2)", [cleo.user.id, dan.user.id]);
  const query = 'chat::{"teamId":3}';
  const one = await connect(cleo.token);
  one.send({ type: "subscribe", query });
  await one.wait({ type: "subscribed", query });
  one.send({ type: "send", query, event: "said", data: { text: "hello" }, ref: 1 });
  await one.wait({ data: { sent: 1 } });
  const read = async (token: string) => {
    const socket = await connect(token);
    socket.send({ type: "subscribe", query, last: 50 });
    const told = () => socket.frames.find(({ type, data }) => type === "error" || data?.stored);
    await expect.poll(told).toBeTruthy();
    return told().code ?? told().data.stored.messages.map(({ body }: { body: object }) => body);
  };
  expect(await read(dan.token)).toEqual([{ json: { text: "hello" } }]);
  expect(await read(fay.token)).toBe("FORBIDDEN");
  await db.sql("delete from memberships where user_id = $1", [dan.user.id]);
  expect(await read(dan.token)).toBe("FORBIDDEN");
});

test("the linter finds nothing", async () => expect(await lint()).toEqual([]));
