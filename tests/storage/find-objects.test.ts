// If this file fails, one silently dead database connection, or one file, blocks all stored files.
import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { ObjectFinder } from "../../src/storage/find-objects.ts";
import { database } from "../support/database.ts";

const db = database();

test.each(["again and again", "once"])(
  "nobody waits behind a connection that does not answer: asked %s",
  async (how) => {
    const pool = db.pool("system", 2);
    const id = randomUUID();
    await db.sql(
      "insert into svc.storage_objects (id, name, size, type, sha256) values ($1, 'x', 1, 'text/plain', $2)",
      [id, "0".repeat(64)],
    );
    const finder = new ObjectFinder(pool);
    await finder.find(id, "system");
    const { rows } = await pool.query("select pg_backend_pid() as pid");
    process.kill(rows[0].pid, "SIGSTOP"); // the only connection, and so the next to be used
    const asked: Promise<unknown>[] = [];
    let found = 0;
    const ask = () => asked.push(finder.find(id, "system").then((object) => object?.id === id && found++));
    try {
      ask();
      await setImmediate(); // the first question is sent
      ask();
      await expect.poll(() => (how === "once" || ask()) && found).toBeGreaterThan(0);
    } finally {
      process.kill(rows[0].pid, "SIGCONT");
      await Promise.all(asked);
      await pool.end();
    }
  },
);

test("a policy that fails for one file leaves the others of the same statement", async () => {
  const [good, bad] = [randomUUID(), randomUUID()];
  await db.sql(
    `insert into svc.storage_objects (id, name, size, type, sha256, visibility)
       select id, 'x', 1, 'text/plain', repeat('0', 64), 'public' from unnest($1::uuid[]) as id`,
    [[good, bad]],
  );
  await db.sql(`create policy failing on svc.storage_objects as restrictive for select to svc_anonymous
    using (case when id = '${bad}' then 1 / (length(name) - 1) = 0 else true end)`);
  const pool = db.pool("system", 2);
  const finder = new ObjectFinder(pool);
  try {
    const found = await Promise.allSettled([good, bad, randomUUID()].map((id) => finder.find(id, "anonymous")));
    expect(found).toMatchObject([
      { status: "fulfilled", value: { id: good } },
      { status: "rejected" },
      { status: "fulfilled", value: null },
    ]);
  } finally {
    await db.sql("drop policy failing on svc.storage_objects");
    await pool.end();
  }
});

test("the user whose file is looked for does not stay the user of what follows", async () => {
  const client = await db.connect("system");
  await client.query("begin");
  await client.query("select from svc_private.find_storage_objects(array[gen_random_uuid()], array['user ann'])");
  const { rows } = await client.query("select svc.current_user_id() as id");
  await client.query("rollback");
  expect(rows).toEqual([{ id: null }]);
});
