// If this file fails, writes are refused because PostgreSQL's disk is full, and svc doctor finds nothing wrong.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { examineWrites } from "../../src/cli/doctor-connections.ts";
import { database } from "../support/database.ts";

const db = database();
const disk = mkdtempSync(join(tmpdir(), "svc-disk-"));
const isMounted = (() => {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "svc-test", disk], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
const why = isMounted ? "" : " [skipped: it needs root, to mount a small disk]";
const tablespace = `small_${process.pid}`;
afterAll(async () => {
  if (isMounted) {
    await db.sql(`drop tablespace if exists ${tablespace}`);
    execFileSync("umount", ["--lazy", disk]);
  }
  rmSync(disk, { recursive: true, force: true });
});

test.skipIf(!isMounted)(`svc doctor says that the disk of PostgreSQL has no room${why}`, async () => {
  expect(await examineWrites(db.pool("system"))).toEqual([]);
  const [{ data } = { data: "" }] = await db.sql<{ data: string }>("select current_setting('data_directory') as data");
  const { uid, gid } = statSync(data);
  chownSync(disk, uid, gid);
  chmodSync(disk, 0o700);
  // Where temporary files of sorts go. The data lies elsewhere, or the server itself would end.
  await db.sql(`create tablespace ${tablespace} location '${disk}'`);
  await db.sql(`grant create on tablespace ${tablespace} to public`);
  await db.sql(`alter database ${db.name} set temp_tablespaces = ${tablespace}`);
  const found = await examineWrites(db.pool("system"));
  expect(found).toEqual([{ kind: "wrong", text: expect.stringMatching(/^PostgreSQL's disk has no room/) }]);
});
