/**
 * Rights that are revoked during a subscription: nothing of later commits is delivered, not even a key. Each event has
 * its transaction's id, so "later" is well defined. `npm run chaos` repeats it 2,000 times.
 */
import { randomInt } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { bearer, service, type User } from "../support/service.ts";
import { Socket } from "../support/sockets.ts";

const events = process.env.CHAOS_ROUNDS ? 2_000 : 50;
const db = database();
const running = service(db);
beforeAll(() => db.sql("set synchronous_commit to on"));

/** Runs a statement that ends with `returning …`. @returns the id of its transaction */
async function xidOf(text: string, ...values: unknown[]): Promise<bigint> {
  const [row] = await db.sql(text, values);
  return BigInt(row?.xid);
}
const xid = "pg_current_xact_id()::text as xid";

/** A user who watches the own notes, one of them, and the boards of a team. */
class Watcher {
  user!: User;
  socket!: Socket;
  team = "";
  note = 0;
  board = 0;

  async begin(name: string): Promise<void> {
    this.user ??= await running.signUp(name);
    this.team = `team of ${name} ${crypto.randomUUID()}`;
    await db.sql("insert into memberships (user_id, team_id) values ($1, $2)", [this.user.id, this.team]);
    const ids = await db.sql(
      `with n as (insert into notes (user_id, title) values ($1, 'x') returning id),
            b as (insert into boards (team_id, name) values ($2, 'x') returning id)
       select n.id as note, b.id as board from n, b`,
      [this.user.id, this.team],
    );
    Object.assign(this, ids[0]);
    this.socket?.close();
    this.socket = await Socket.open(running, this.user);
    await this.socket.subscribe("notes.list");
    await this.socket.subscribe(`notes.get::{"id":${this.note}}`);
    const { body } = await running.post(
      "/api/realtime/query/authorize",
      { query: "team_boards.list", args: { filters: { teamId: this.team } } },
      this.user,
    );
    this.socket.send({ type: "subscribeQuery", token: body.token });
    await this.socket.wait({ type: "query:subscribed" });
  }

  /** Waits until it has received all events so far, or is closed. @returns their transactions */
  async heard(): Promise<bigint[]> {
    const key = `guestbook.get::{"id":${randomInt(1e9)}}`;
    this.socket.send({ type: "subscribe", query: key });
    await expect.poll(() => this.socket.closed || this.socket.frames.some(({ query }) => query === key)).toBeTruthy();
    return this.socket.frames.filter((frame) => frame.xid).map((frame) => BigInt(frame.xid));
  }
}

const later = {
  note: ({ note }: Watcher) => xidOf(`update notes set title = title || '.' where id = $1 returning ${xid}`, note),
  board: ({ board }: Watcher) => xidOf(`update boards set name = name || '.' where id = $1 returning ${xid}`, board),
  own: ({ user }: Watcher) =>
    xidOf(`insert into notes (user_id, title) values ($1, 'later') returning ${xid}`, user.id),
};

/** How a right ends, and later changes that must not be delivered. After the end of a session none may be. */
interface Gone {
  at: bigint;
  later: (() => Promise<bigint>)[];
}
const ends: Record<string, (one: Watcher, other: Watcher) => Promise<Gone>> = {
  async "the owner is another"(one, other) {
    const at = await xidOf(`update notes set user_id = $1 where id = $2 returning ${xid}`, other.user.id, one.note);
    return { at, later: [() => later.note(one), () => later.note(one)] };
  },
  async "the row is deleted, and its id another's"(one, other) {
    const at = await xidOf(`delete from notes where id = $1 returning ${xid}`, one.note);
    const again = () =>
      xidOf(`insert into notes (id, user_id, title) values ($1, $2, 'x') returning ${xid}`, one.note, other.user.id);
    return { at, later: [again, () => later.note(one)] };
  },
  async "the row is in another scope"(one, other) {
    const at = await xidOf(`update boards set team_id = $1 where id = $2 returning ${xid}`, other.team, one.board);
    return { at, later: [() => later.board(one), () => later.board(one)] };
  },
  async "the session is over"(one) {
    const at = await xidOf(`delete from auth.session where user_id = $1 returning ${xid}`, one.user.id);
    return { at, later: [() => later.own(one), () => later.note(one), () => later.board(one)] };
  },
  async "the user's row is another"(one) {
    const at = await xidOf(`update auth."user" set name = name || '.' where id = $1 returning ${xid}`, one.user.id);
    return { at, later: [() => later.own(one), () => later.board(one)] };
  },
};

test(
  "of what commits after a right has gone, nothing is told",
  async () => {
    const [one, other] = [new Watcher(), new Watcher()];
    await Promise.all([one.begin("one"), other.begin("other")]);
    const ways = Object.entries(ends);
    let told = 0;
    for (let seen = 0, turn = 0; seen < events; turn++) {
      const [name, end] = ways[turn % ways.length] as (typeof ways)[number];
      // These arrive, which proves that it receives events of these rows.
      const before = [await later.note(one), await later.board(one)];
      const { at, later: afterwards } = await end(one, other);
      const after: bigint[] = [];
      for (const happen of afterwards) after.push(await happen());
      const heard = await one.heard();
      expect(
        heard.filter((xid) => xid > at && after.includes(xid)),
        name,
      ).toEqual([]);
      told += before.filter((xid) => heard.includes(xid)).length;
      seen += before.length + after.length;
      if (one.socket.closed) {
        expect(one.socket.closed.code, name).toBe(4401);
        const { body } = await running.post("/api/auth/sign-in", { email: one.user.email, password: "correct horse" });
        one.user = { ...one.user, ...body };
      }
      await one.begin("one");
    }
    expect(told, "it heard what it had a right to").toBeGreaterThan(events / 10);
    one.socket.close();
    other.socket.close();
  },
  30_000 + events * 250,
);

test("a session that ends while its socket is being opened leaves none behind", async () => {
  const user = await running.signUp("quick");
  const { body } = await running.fetch("/api/realtime/ticket", { method: "POST", headers: bearer(user) });
  const socket = new Socket(`${running.url.replace("http", "ws")}/ws?ticket=${body.ticket}`);
  await db.sql("delete from auth.session where user_id = $1", [user.id]);
  await expect.poll(() => socket.websocket.readyState).toBe(socket.websocket.CLOSED);
});
