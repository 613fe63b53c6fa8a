// If this file fails, pages keep old rows after somebody has changed the publication by hand, or made a table again, and nobody
// says so.
import { Writable } from "node:stream";
import pg from "pg";
import { pino } from "pino";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { withClient } from "../../src/postgres/with-client.ts";
import { changeDecoder } from "../../src/realtime/change-decoder.ts";
import { describePublication } from "../../src/realtime/publication.ts";
import { ChangeReader, nextWait } from "../../src/realtime/replication.ts";
import { inDatabase, maintain } from "../support/admin.ts";
import { database } from "../support/database.ts";

const db = database();
const followed = ["notes", "posts", "parts"].map((name) => ({ schema: "public", name }));

test("changes that the publication leaves out are told, and migrating again publishes them", async () => {
  const system = await db.connect("system");
  const described = () => describePublication(system as never, followed);
  await db.sql("create table parts (id integer, user_id text) partition by hash (id)");
  const wanted = JSON.stringify(followed.map(({ name }) => ({ table: `public.${name}`, identity: ["id", "user_id"] })));
  const again = () => db.sql(`select svc_private.publish_tables('${wanted}')`);
  await again();
  expect(await described()).toBeNull();
  const silent = (names: string) =>
    `The publication svc does not tell all changes of ${names}: pages keep old rows.\n  Run svc migrate --again.`;
  for (const [byHand, text] of [
    ["alter publication svc drop table notes", silent("public.notes")],
    [
      "alter table posts rename to moved; create table posts (like moved); drop table moved cascade",
      silent("public.posts"),
    ],
    [
      "alter publication svc set table notes (id), posts where (title > 'x'), parts",
      silent("public.notes, public.posts"),
    ],
    [
      "alter publication svc drop table posts; alter table posts set unlogged",
      "public.posts is unlogged: the log has no line for its changes, and pages keep old rows.\n" +
        "  Set it logged, as svc db lint says, then svc migrate --again; or give its createCrud realtime: false.",
    ],
    ["alter table posts set logged", silent("public.posts")],
    ["alter publication svc set (publish_via_partition_root = false)", silent("public.parts")],
    ["alter publication svc set (publish = 'insert')", expect.stringContaining("leaves out kinds of changes")],
    [
      "drop publication svc",
      expect.stringMatching(
        /^The publication svc is missing.*\n {2}Run svc migrate --again; without sql\/realtime\.sql, first svc codegen\.$/,
      ),
    ],
  ] as const) {
    await db.sql(byHand);
    expect(await described()).toEqual(text);
    await again();
    if (!byHand.endsWith("unlogged")) expect(await described()).toBeNull();
  }
});

test("a reader whose publication is missing says what to run, and waits longer before each try", async () => {
  const lines: string[] = [];
  const to = new Writable({
    write: (line, _, done) => {
      lines.push(String(line));
      done();
    },
  });
  const [lives, losses] = [vi.fn(), vi.fn()];
  const nothing = () => {};
  const listener = { begun: nothing, changed: nothing, truncated: nothing, said: nothing, traced: nothing };
  const more = { broadcast: nothing, ended: nothing, committed: nothing, live: lives, lost: losses };
  const reader = new ChangeReader({
    url: db.url("replication"),
    to: changeDecoder({ ...listener, ...more }),
    log: pino(to),
  });
  reader.start();
  onTestFinished(() => reader.stop());
  await vi.waitFor(() => expect(lives).toHaveBeenCalled(), { timeout: 20_000 });
  await db.sql("drop publication svc");
  const times: number[] = [];
  losses.mockImplementation(() => times.push(performance.now()));
  await vi.waitFor(
    async () => {
      await db.sql("insert into guestbook (message) values ('x')");
      expect(times.length).toBeGreaterThan(5);
    },
    { timeout: 60_000 },
  );
  const [first = 0, ...others] = times;
  expect((others.at(-1) ?? 0) - first).toBeGreaterThan(3_000); // a half of 200 ms, then of 400 ms, and so on
  expect(lines.join("")).toContain(
    "realtime cannot read changes; trying again (Run svc migrate --again; without sql/realtime.sql, first svc codegen.)",
  );
});

// After a failover that took Patroni 18 seconds, pages were told nothing for 13 seconds more.
test("a reader whose server is away does not wait longer each time, because the server may be back at any moment", () => {
  const waits = (error: unknown) =>
    [...Array(9)].reduce<number[]>((all) => [...all, nextWait(all.at(-1) ?? 200, error)], []);
  const missing = Object.assign(new pg.DatabaseError("no publication", 0, "error"), { code: "42704" });
  expect(Math.max(...waits(new Error("Connection terminated unexpectedly")))).toBe(1_000);
  for (const reason of ["getaddrinfo ENOTFOUND db", "timeout expired"])
    expect(Math.max(...waits(new Error(reason))), reason).toBe(1_000);
  expect(Math.max(...waits(undefined)), "one that began").toBe(10_000);
  expect(Math.max(...waits(missing))).toBe(10_000);
});

test("an old database sends changes of owners' rows, if it logs them whole", async () => {
  // docs/how-to/existing-database.md
  const { admin } = inject("urls");
  const old = `${db.name}_old`;
  await maintain(admin, `create database ${old} template template0`);
  onTestFinished(() => maintain(admin, `drop database ${old} with (force)`));
  await withClient(inDatabase(admin, old), "old", async (from) => {
    await withClient(inDatabase(admin, db.name), "new", async (to) => {
      const notes = `id serial primary key, user_id text, title text`;
      await from.query(`create table notes (${notes}); create publication moving for table notes`);
      await from.query(`select pg_create_logical_replication_slot('${old}', 'pgoutput')`);
      await to.query("set session_replication_role = replica"); // the user's row is not a part of this
      await to.query(
        `create subscription moving connection '${inDatabase(admin, old)}' publication moving
           with (create_slot = false, slot_name = '${old}', copy_data = false)`,
      );
      const titles = async () => (await to.query("select title from notes")).rows.map(({ title }) => title);
      await from.query("alter table notes replica identity full");
      await from.query("insert into notes (user_id, title) values ('ann', 'first')");
      await from.query("update notes set title = 'second'");
      await vi.waitFor(async () => expect(await titles()).toEqual(["second"]), { timeout: 20_000 });
      await from.query("delete from notes");
      await vi.waitFor(async () => expect(await titles()).toEqual([]), { timeout: 20_000 });
      await to.query("drop subscription moving");
    });
  });
});
