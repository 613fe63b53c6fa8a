// If this file fails, writes are refused because PostgreSQL's disk is full, and svc doctor finds nothing wrong.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { examineWrites } from "../../src/cli/doctor-connections.ts";
import { database } from "../support/database.ts";

const db = database();
const why = process.getuid?.() === 0 ? "" : " [skipped: it needs root, to mount a small disk]";
const tablespace = `small_${process.pid}`;
let disk: string | undefined;
afterAll(async () => {
  if (disk) execFileSync("umount", ["--lazy", disk]);
  await db.sql(`drop tablespace if exists ${tablespace}`);
});

test.skipIf(why)(`svc doctor says that the disk of PostgreSQL has no room${why}`, async () => {
  expect(await examineWrites(db.pool("system"))).toEqual([]);
  // Where temporary files of sorts go. The data lies elsewhere, or the server itself would end. In place, because the
  // standbys of other tests, which run meanwhile, make the folders of all tablespaces.
  await db.sql("set allow_in_place_tablespaces = on");
  await db.sql(`create tablespace ${tablespace} location ''`);
  const [{ place } = { place: "" }] = await db.sql<{ place: string }>(
    "select current_setting('data_directory') || '/pg_tblspc/' || oid as place from pg_tablespace where spcname = $1",
    [tablespace],
  );
  const folder = join(place, readdirSync(place)[0] ?? "");
  const { uid, gid } = statSync(folder);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "svc-test", folder]);
  disk = folder;
  chownSync(disk, uid, gid);
  chmodSync(disk, 0o700);
  await db.sql(`grant create on tablespace ${tablespace} to public`);
  await db.sql(`alter database ${db.name} set temp_tablespaces = ${tablespace}`);
  const found = await examineWrites(db.pool("system"));
  expect(found).toEqual([{ kind: "wrong", text: expect.stringMatching(/^PostgreSQL's disk has no room/) }]);
});
