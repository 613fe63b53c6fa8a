// If this file fails, a backup onto a full disk leaves a part of itself, or does not tell which disk is full.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { backupsFolder, hasPrograms, take } from "../support/backups.ts";
import { database } from "../support/database.ts";

const disk = join(backupsFolder(), "small");
const isMounted = (() => {
  try {
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "svc-test", disk], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
const why = isMounted ? "" : " [skipped: it needs root, to mount a small disk]";
const db = database();
afterAll(() => {
  if (isMounted) execFileSync("umount", ["--lazy", disk]);
});

test.skipIf(!isMounted || !(await hasPrograms(inject("serverVersion"))))(
  `a backup onto a full disk fails, names its folder and leaves nothing there${why}`,
  async () => {
    const taken = take(db, new DiskDriver(join(disk, "none")), join(disk, "monday"));
    await expect(taken).rejects.toMatchObject({ code: "ENOSPC", message: expect.stringContaining(disk) });
    expect(readdirSync(disk)).toEqual([]);
  },
);
