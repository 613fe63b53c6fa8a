// If this file fails, a workflow run, its steps or events, a transcription or a line of the ledger is shown to a caller
// from whom the application's policies hide it, or a socket reports another user's runs.
import { beforeAll, describe, expect, test } from "vitest";
import { heard, Socket } from "../support/sockets.ts";
import { compareAll } from "./all-doors.ts";
import { isSignedIn } from "./door.ts";
import { platformDoors } from "./platform-doors.ts";
import { plant, situations } from "./situations.ts";
import { world } from "./world.ts";

const made = world();
const doors = platformDoors(made);
// Of the runs without a corpus and a visibility of their own, those of one scope are enough.
beforeAll(() =>
  made.db.sql(`delete from svc.workflow_runs where name = 'rag.ingest'
    and not args::jsonb @> '{"json":{"document":{"scope":{"corpus":"open","visibility":"private"}}}}'`),
);

describe.for(situations)("where $name", (situation) => {
  beforeAll(() => plant(made.db, situation));
  test.for(doors)("$name gives what select gives", async (door) => {
    const given = await compareAll(made, door, situation);
    if (situation.name === "nothing is shown") expect(given).toBe(0);
    else expect(given).toBeGreaterThan(0);
  });
});

test("a socket hears of its own user's runs alone, by their keys, whatever the policies show", async () => {
  const { callers, db, running, sql } = made;
  const runs = await sql.all<{ id: string; user_id: string }>("select id, user_id from svc.workflow_runs");
  for (const situation of situations.filter(({ name }) => /is shown$/.test(name))) {
    await plant(db, situation);
    for (const { user } of callers.filter((one) => isSignedIn(one) && one.scopes === undefined)) {
      const socket = await Socket.open(running, user);
      const keyOf = ({ id }: { id: string }) => `workflows.get::{"id":"${id}"}`;
      for (const key of ["workflows.list", ...runs.map(keyOf)]) await socket.subscribe(key);
      await db.sql("select svc_private.tell_run(id, user_id) from svc.workflow_runs");
      const frames = await heard(socket, db);
      const own = runs.filter(({ user_id }) => user_id === user?.id).map(keyOf);
      expect(frames.flatMap(({ queries }) => queries).sort()).toEqual(
        own.length > 0 ? [...own, "workflows.list"].sort() : [],
      );
      expect(
        frames.flatMap((frame) => Object.keys(frame)).filter((name) => !["type", "queries", "xid"].includes(name)),
      ).toEqual([]);
      socket.close();
    }
  }
});

test("the message of a changed run takes no call of a function", async () => {
  const call = "select svc_private.tell_run(id, user_id) from svc.workflow_runs";
  const plan = await made.db.sql<{ "QUERY PLAN": string }>(`explain (verbose, costs off) ${call}`);
  const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
  expect(text).toContain("pg_logical_emit_message");
  expect(text).not.toContain("tell_run");
});
