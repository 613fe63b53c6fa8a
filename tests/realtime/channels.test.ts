// If this file fails, a message of a channel reaches those who may not be there, or not those who may.
import type { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { channelLimits } from "../../src/realtime/channel-limits.ts";
import { database } from "../support/database.ts";
import { liveServices, teamsOf } from "../support/live.ts";
import { apiWith, type User } from "../support/service.ts";
import { cutReader, cutRevocations, type Socket, sockets } from "../support/sockets.ts";
import { channels, procedures } from "./channel-application.ts";

const db = database();
const api = apiWith({ procedures, channels });
const [running, other] = liveServices(db, api);
const connect = sockets(running);
const elsewhere = sockets(other);
/** By the session token: the JWT is of the other service's address. */
const connectElsewhere = (user: User) => elsewhere({ ...user, token: user.sessionToken });

/** A team with a board, and these members. */
const team = teamsOf(db, "team");
const remove = (user: User, id: string) =>
  db.sql("delete from memberships where user_id = $1 and team_id = $2", [user.id, id]);

const join = async (socket: Socket, key: string) => {
  socket.send({ type: "subscribe", query: key });
  return socket.wait({ type: "subscribed", query: key });
};
const say = (socket: Socket, query: string, to: string, ref = to) =>
  socket.send({ type: "send", query, event: "typing", data: { to }, ref });
const hears = (to: string, from: unknown, message = "typing") => ({ data: { message, body: { json: { to } }, from } });
/** What frames say in channels. */
const texts = (frames: Socket["frames"]) => frames.flatMap(({ data }) => data?.body?.json.to ?? []);

describe("a message", () => {
  test("reaches the other members in all processes, with a sender that the service names", async () => {
    const [ann, bob, eve] = [await running.signUp("ann"), await running.signUp("bob"), await running.signUp("eve")];
    const { key } = await team(ann, bob);
    const [one, two, stranger] = [await connect(ann), await connectElsewhere(bob), await connect(eve)];
    await join(one, key);
    await join(two, key);
    const from = { id: ann.id, userId: ann.id };
    one.send({ type: "send", query: key, event: "typing", data: { to: "you", from: "bob" }, ref: 1, from: "bob" });
    await two.wait(hears("you", from));
    await one.wait({ data: { sent: 1 } });
    say(two, key, "back");
    await one.wait(hears("back", { id: bob.id, userId: bob.id }));
    expect(texts(one.frames)).toEqual([]); // not its own
    expect(stranger.frames).toEqual([]);
  });

  test("of a handler commits with its rows, or is not sent", async () => {
    const ann = await running.signUp("ann");
    const { id, key } = await team(ann);
    const socket = await connectElsewhere(ann);
    await join(socket, key);
    await running.mutate(ann, "test.tell", { id, to: "lost", fail: true });
    expect((await running.mutate(ann, "test.tell", { id: id.toUpperCase(), to: "rows" })).status).toBe(200);
    await running.mutate(ann, "test.tell", { id, to: "alone", bare: true });
    expect(texts(await socket.upTo(hears("alone", null, "moved")))).toEqual(["rows", "alone"]);
    await running.mutate(ann, "test.tellNested", { id, to: "taken back", after: "kept" });
    expect(texts(await socket.upTo(hears("kept", null, "moved")))).toEqual(["kept"]);
    expect((await running.mutate(ann, "test.tellWrongly")).body).toMatchObject({ code: "VALIDATION_FAILED" });
    expect((await running.query(ann, "test.tellInQuery")).body).toMatchObject({ code: "QUERY_WROTE" });
  });

  test.each([
    [{ event: "typing", data: { to: 7 } }, "VALIDATION_FAILED"],
    [{ event: "moved", data: { to: "x" } }, "NOT_FOUND"], // a notice
    [{ event: "toString", data: {} }, "NOT_FOUND"],
    [{ event: "typing", data: { to: "x".repeat(channelLimits.message) } }, "PAYLOAD_TOO_LARGE"],
    [{ event: "typing", data: { json: {}, meta: [[99]] } }, "BAD_REQUEST"],
  ])("such as %j is refused with %s, and others can be sent", async (frame, code) => {
    const ann = await running.signUp("ann");
    const { key } = await team(ann);
    const socket = await connect(ann);
    await join(socket, key);
    socket.send({ type: "send", query: key, ref: 5, ...frame });
    const { data } = await socket.wait({ type: "query:updated", query: key });
    expect(data).toMatchObject({ failed: 5, code });
    say(socket, key, "right");
    await socket.wait({ data: { sent: "right" } });
  });
});

test("a join that returns no boolean is told to the author once; a wrong name or channel of a handler, by the answer", async () => {
  const ann = await running.signUp("ann");
  const socket = await connect(ann);
  for (const query of ["careless", "careless::{}"]) {
    socket.send({ type: "subscribe", query });
    await socket.wait({ type: "error", query, code: "FORBIDDEN" });
  }
  const says = 'The join of the channel \\"careless\\" returned an object, and true alone admits a caller';
  expect(running.logged.filter((line) => line.includes(says))).toHaveLength(1);
  const hint = async (name: string) => (await running.mutate(ann, name)).body.hint;
  expect(await hint("test.tellMisnamed")).toContain('has no message "movd". Did you mean "moved"?');
  expect(await hint("test.tellUnheard")).toContain('"unheard": register it under channels of defineApi');
});

test("a join that reads what is not followed is told to the author, while developing", async () => {
  await join(await connect(await running.signUp("ann")), "outside");
  expect(running.logged.filter((line) => line.includes('The join of the channel \\"outside\\" reads'))).toHaveLength(1);
});

test("the log says once that channels cannot send, and once that they can", async () => {
  const ann = await running.signUp("ann");
  const { key } = await team(ann);
  const socket = await connect(ann);
  await join(socket, key);
  const said = () => running.logged.map((line) => JSON.parse(line).msg).filter((text) => /^channels /.test(text));
  await db.sql("revoke execute on function svc_private.broadcast(text) from svc_system");
  for (const to of ["one", "two"]) {
    say(socket, key, to);
    await expect.poll(() => socket.frames.some(({ data }) => data?.failed === to)).toBe(true);
  }
  await db.sql("grant execute on function svc_private.broadcast(text) to svc_system");
  say(socket, key, "three");
  await socket.wait({ data: { sent: "three" } });
  expect(said()).toEqual([expect.stringMatching(/^channels cannot send/), "channels send again"]);
});

describe("who may not be there", () => {
  test("learns nothing, whether or not there is such a channel", async () => {
    const [ann, eve] = [await running.signUp("ann"), await running.signUp("eve")];
    const { key } = await team(ann);
    await join(await connect(ann), key);
    const socket = await connect(eve);
    const answers = [];
    for (const query of [key, 'team::{"id":"nowhere"}']) {
      for (const frame of [
        { type: "subscribe" },
        { type: "send", event: "typing", data: { to: "x" }, ref: 1 },
        { type: "track", state: { mood: "x" }, ref: 1 },
      ]) {
        socket.send({ ...frame, query });
        const { query: _, ...answer } = await socket.wait({ query });
        answers.push(answer);
      }
    }
    expect(answers.slice(0, 3)).toEqual(answers.slice(3));
    expect(answers[0]).toEqual({ type: "error", code: "FORBIDDEN", error: "You may not be in this channel." });
    expect(answers[1].data).toMatchObject({ failed: 1, code: "FORBIDDEN" });
  });

  test("is refused without a session, unless the definition allows it", async () => {
    const visitor = await connect(null);
    visitor.send({ type: "subscribe", query: 'team::{"id":"x"}' });
    await visitor.wait({ type: "error", code: "UNAUTHORIZED", query: 'team::{"id":"x"}' });
    await join(visitor, 'lobby::{"n":1}');
    visitor.send({ type: "subscribe", query: 'lobby::{"n":11}' });
    await visitor.wait({ type: "error", code: "FORBIDDEN", query: 'lobby::{"n":11}' });
    visitor.send({ type: "subscribe", query: 'lobby::{"n":"x"}' });
    await visitor.wait({ type: "error", code: "VALIDATION_FAILED", query: 'lobby::{"n":"x"}' });
    visitor.send({ type: "subscribe", query: "lobby::{" });
    await visitor.wait({ type: "error", code: "BAD_REQUEST", query: "lobby::{" });
  });

  test("is put out by the change of a row, and hears nothing that committed after it", async () => {
    const [ann, eve] = [await running.signUp("ann"), await running.signUp("eve")];
    for (let n = 0; n < 5; n++) {
      const { id, key } = await team(ann, eve);
      const [one, two] = [await connectElsewhere(ann), await connect(eve)];
      await join(one, key);
      await join(two, key);
      say(one, key, "before");
      await two.wait(hears("before", { id: ann.id, userId: ann.id }));
      await remove(eve, id);
      say(one, key, "after");
      await running.mutate(ann, "test.tell", { id, to: "after" });
      expect(texts(await two.upTo({ type: "error", code: "FORBIDDEN", query: key }))).toEqual([]);
      await one.wait(hears("after", null, "moved"));
      say(two, key, "still here");
      expect((await two.wait({ type: "query:updated" })).data).toMatchObject({
        failed: "still here",
        code: "FORBIDDEN",
      });
      expect(texts([...two.frames, ...one.frames])).toEqual([]);
    }
  });

  test("is put out if the change came while changes were not read", async () => {
    const [ann, eve] = [await running.signUp("ann"), await running.signUp("eve")];
    const { id, key } = await team(ann, eve);
    const [one, two] = [await connect(ann), await connect(eve)];
    await join(one, key);
    await join(two, key);
    await cutReader(db);
    await remove(eve, id);
    await two.wait({ type: "error", code: "FORBIDDEN", query: key });
    await expect.poll(() => one.frames.some(({ type }) => type === "resync")).toBe(true);
    await running.mutate(ann, "test.tell", { id, to: "again" });
    await one.wait(hears("again", null, "moved"));
  });

  test("says nothing while changes are not read", async () => {
    const eve = await running.signUp("eve");
    const { id, key } = await team(eve);
    const socket = await connect(eve);
    await join(socket, key);
    const writer = await db.pool("admin", 1).connect(); // the new reader waits for its transaction
    await writer.query("begin; insert into guestbook (message) values ('waits')");
    await cutReader(db);
    await socket.wait({ type: "status", flow: "degraded" });
    await remove(eve, id);
    say(socket, key, "still here");
    await new Promise((resolve) => setTimeout(resolve, 300));
    await writer.query("commit");
    writer.release();
    const { data } = await socket.wait({ type: "query:updated" });
    expect(data).toMatchObject({ failed: "still here", code: "FORBIDDEN" });
  });

  test("is not said of who is there, where the connection ends before that is known again", async () => {
    const ann = await running.signUp("ann");
    const { key } = await team(ann);
    const [socket, afar] = [await connect(ann), await connectElsewhere(ann)];
    await join(socket, key);
    const writer = await db.pool("admin", 1).connect(); // the new reader waits for its transaction
    await writer.query("begin; insert into guestbook (message) values ('waits')");
    await cutReader(db);
    await socket.wait({ type: "status", flow: "degraded" });
    say(socket, key, "waits");
    await new Promise((resolve) => setTimeout(resolve, 100));
    await cutRevocations(db);
    // In both processes: the other one would close the sockets of the next test.
    for (const one of [socket, afar]) await expect.poll(() => one.closed?.code).toBe(4401);
    await writer.query("rollback");
    writer.release();
    const { data } = await socket.wait({ type: "query:updated" });
    expect(data).toMatchObject({ failed: "waits", code: "UNAVAILABLE" });
  });

  test("is out when the session ends", async () => {
    const [ann, eve] = [await running.signUp("ann"), await running.signUp("eve")];
    const { id, key } = await team(ann, eve);
    const [one, two] = [await connect(ann), await connectElsewhere(eve)];
    await join(one, key);
    await join(two, key);
    await db.sql("delete from auth.session where user_id = $1", [eve.id]);
    await running.mutate(ann, "test.tell", { id, to: "after" });
    await expect.poll(() => two.closed?.code).toBe(4401);
    expect(texts(two.frames)).toEqual([]);
  });

  test("says nothing after the session, even if the client leaves the socket open", async () => {
    const [ann, eve] = [await running.signUp("ann"), await running.signUp("eve")];
    const { id, key } = await team(ann, eve);
    const [one, two, honest] = [await connect(ann), await connect(eve), await connect(eve)];
    await join(one, key);
    await join(two, key);
    // Then this client does not answer when the service closes the socket.
    (two.websocket as unknown as { _receiver: EventEmitter })._receiver.removeAllListeners("conclude");
    await db.sql("delete from auth.session where user_id = $1", [eve.id]);
    await expect.poll(() => honest.closed?.code).toBe(4401);
    two.send({ type: "subscribe", query: key });
    for (let n = 0; n < 10; n++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      say(two, key, "still here");
    }
    await running.mutate(ann, "test.tell", { id, to: "after" });
    expect(texts(await one.upTo(hears("after", null, "moved")))).toEqual(["after"]);
  });

  test("stays as long as the answer is the same", async () => {
    const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
    const { id, key } = await team(ann, bob);
    const [one, two] = [await connect(ann), await connect(bob)];
    await join(one, key);
    await join(two, key);
    for (let n = 0; n < 20; n++) {
      await db.sql("update boards set name = $2 where team_id = $1", [id, `plans ${n}`]);
      say(one, key, String(n));
    }
    await two.wait(hears("19", { id: ann.id, userId: ann.id }));
  });
});
