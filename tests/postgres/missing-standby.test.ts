// If this file fails, writes stop because a synchronous standby is away, and svc doctor finds nothing wrong.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { examineWrites } from "../../src/cli/doctor-connections.ts";
import { openCluster } from "../../src/cluster/open-cluster.ts";
import { root } from "../support/global-setup.ts";

// A server of its own: commits of every database wait.
const directory = mkdtempSync(join(root, ".svc/standby-"));
const cluster = await openCluster({ directory, name: "synchronous" });
const pool = new pg.Pool({ connectionString: cluster.urls.admin });
pool.on("error", () => {}); // the server stops before its last session has ended
const change = async (text: string) => {
  await pool.query(`alter system ${text}`);
  await pool.query("select pg_reload_conf()");
};

afterAll(async () => {
  await pool.end();
  await cluster.stop();
  rmSync(directory, { recursive: true, force: true });
});

test("svc doctor names the synchronous standby for which commits wait", async () => {
  expect(await examineWrites(pool)).toEqual([]);
  await pool.query("checkpoint"); // the checkpointer reads settings for all, and not before it has flushed the files
  await change("set synchronous_standby_names = 'away'");
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  const writing = (async () => {
    while (!isOver) await pool.query("select pg_current_xact_id()"); // whose commits begin to wait when the server has read its settings
  })();
  await expect
    .poll(() => examineWrites(pool))
    .toEqual([{ kind: "wrong", text: expect.stringMatching(/^Commits wait for a synchronous standby \(away\)/) }]);
  isOver = true;
  await change("reset synchronous_standby_names");
  await writing;
  expect(await examineWrites(pool)).toEqual([]);
});
