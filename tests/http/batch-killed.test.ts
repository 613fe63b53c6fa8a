// If this file fails, a batch that is killed leaves a part of its calls behind, or is answered as saved and is lost.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { secret, service, type User } from "../support/service.ts";

const size = 12;
const db = database();
const svc = service(db);
let ann: User;

/** A note with one of these titles kills its backend, kills it at COMMIT, or waits for the test. */
beforeAll(async () => {
  ann = await svc.signUp("ann");
  await db.sql(`
    create function public.kill() returns trigger language plpgsql security definer as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
    create function public.wait() returns trigger language plpgsql security definer as
      $$ begin perform pg_advisory_xact_lock(4711); return null; end $$;
    create trigger kills after insert on notes for each row when (new.title = 'kill') execute function public.kill();
    create constraint trigger kills_late after insert on notes deferrable initially deferred
      for each row when (new.title = 'kill late') execute function public.kill();
    create trigger waits after insert on notes for each row when (new.title = 'wait') execute function public.wait();`);
});

const calls = (title: string, at: number) =>
  Array.from({ length: size }, (_, index) => ({
    name: "notes.create",
    args: { title: index === at ? title : "fine" },
  }));
const saved = async () => (await db.sql("select count(*)::integer as n from notes"))[0]?.n;

test.for(["kill", "kill late"])(
  "%s: a backend that ends at any call leaves nothing, and the answer says so",
  async (title) => {
    for (let at = 0; at < size; at++) {
      const { status, body } = await svc.post("/api/batch", { calls: calls(title, at) }, ann);
      expect({ at, status, code: body.code }).toEqual({ at, status: 503, code: "UNAVAILABLE" });
      expect({ at, saved: await saved() }).toEqual({ at, saved: 0 });
    }
    const { status } = await svc.post("/api/batch", { calls: calls("fine", 0) }, ann);
    expect([status, await saved()]).toEqual([200, size]);
    await db.sql("delete from notes");
  },
);

let child: ChildProcess | undefined;
afterAll(() => void child?.kill("SIGKILL"));

// The test above kills the backend at each call; here the whole process ends.
test("a service that is killed at the last call leaves nothing", async () => {
  const holder = await db.connect("admin");
  child = fork(join(import.meta.dirname, "../support/service-child.ts"), [
    JSON.stringify(db.urls),
    bytesFolder(),
    secret,
  ]);
  const [url] = await once(child, "message");
  await holder.query("select pg_advisory_lock(4711)");
  const headers = { "content-type": "application/json", authorization: `Bearer ${ann.sessionToken}` };
  const answer = fetch(`${url}/api/batch`, {
    method: "POST",
    headers,
    body: JSON.stringify({ calls: calls("wait", size - 1) }),
  });
  const broken = expect(answer).rejects.toThrow();
  const waiting = "select pid from pg_locks where locktype = 'advisory' and objid = 4711 and not granted";
  await expect.poll(() => db.sql(waiting)).toHaveLength(1);
  const [{ pid }] = (await db.sql(waiting)) as [{ pid: number }];
  child.kill("SIGKILL");
  await broken;
  await holder.query("select pg_advisory_unlock(4711)");
  await expect.poll(() => db.sql("select from pg_stat_activity where pid = $1", [pid])).toHaveLength(0);
  expect(await saved()).toBe(0);
});
