// If this file fails, one silently dead database connection blocks all stored files.
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
