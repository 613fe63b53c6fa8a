// If this file fails, an operator whose folder belongs to another user reads a stack, or svc doctor finds nothing wrong.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { explain } from "../../src/cli/explain.ts";
import { makeFolder } from "../../src/kit/make-folder.ts";
import { describeClosedFolder } from "../../src/storage/missing-folder.ts";
import { createDriver } from "../../src/storage/storage.ts";
import { fixture, noDatabase, runHere, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

/** A folder in which this process may not write, until the test ends. Root may write everywhere, so it becomes nobody. */
function closedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-closed-"));
  chmodSync(folder, 0o555);
  if (isRoot) process.seteuid?.(nobody);
  onTestFinished(() => {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true });
  });
  return folder;
}

test("a folder that may not be made is told with its remedy and without a stack", () => {
  const folder = closedFolder();
  let thrown: unknown;
  try {
    mkdirSync(join(folder, "monday"));
  } catch (error) {
    thrown = error;
  }
  const said = explain(thrown, "/nowhere").split("\n");
  expect(said).toEqual([
    expect.stringContaining(`EACCES: permission denied, mkdir '${folder}/monday'`),
    expect.any(String),
  ]);
  expect(said[1]).toMatch(/owner and the mode/);
});

const disk = mkdtempSync(join(tmpdir(), "svc-read-only-"));
const isMounted = (() => {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "ro", "svc-test", disk], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
const why = isMounted ? "" : " [skipped: it needs root, to mount a disk]";
afterAll(() => {
  if (isMounted) execFileSync("umount", [disk]);
  rmSync(disk, { recursive: true });
});

test.skipIf(!isMounted)(`svc doctor names the folder of stored files that may not be written${why}`, async () => {
  const at = (dir: string) => describeClosedFolder({ driver: "disk", dir });
  expect(await at(disk)).toContain(`may not write into ${disk} (EROFS)`);
  expect(await at(join(disk, "a/b"))).toContain(`may not write into ${disk}, where ${disk}/a/b is to be made, (EROFS)`);
});

const hasProc = process.platform === "linux";

test.skipIf(!hasProc).for([
  ["init", "/proc/svc-test/app", "--no-install"],
  ["db", "backup", "/proc/svc-test"],
])("a folder in a file system that takes none is refused, with its name: %j", async (args) => {
  const { code, error } = await (args[0] === "init" ? runHere(args, noDatabase, tmpdir()) : svcHere(db, fixture, args));
  expect(code).toBe(1);
  expect(error).toMatch(/takes no folders, mkdir '\/proc\/svc-test[.\w]*'\n {2}Choose a folder of another file system/);
});

test.skipIf(!hasProc)("so is a file that would be stored there", async () => {
  const stored = createDriver({ driver: "disk", dir: "/proc/svc-test" }).put("key", Readable.from(["a"]));
  await expect(stored).rejects.toMatchObject({ code: "ENOTSUP", path: expect.stringContaining("/proc/svc-test") });
});

test("of several that make a folder at once, each finds it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-made-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const made = await Promise.all(Array.from({ length: 8 }, (_, at) => makeFolder(join(folder, "a/b/c", `${at % 2}`))));
  expect(made).toHaveLength(8);
  expect(readdirSync(join(folder, "a/b/c")).sort()).toEqual(["0", "1"]);
  writeFileSync(join(folder, "file"), "");
  await expect(makeFolder(join(folder, "file"))).rejects.toMatchObject({ code: "EEXIST" });
});

test("a folder is made although others remove its empty parent meanwhile", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-raced-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const parent = join(folder, "a");
  let isOver = false;
  const remover = (async () => {
    while (!isOver) await rmdir(parent).catch(() => {});
  })();
  try {
    for (let turn = 0; turn < 200; turn++) {
      await makeFolder(join(parent, "b"));
      rmdirSync(join(parent, "b"));
    }
  } finally {
    isOver = true;
    await remover;
  }
});

test("svc doctor finds nothing where the folder can be written, or be made", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-open-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const at = (dir: string) => describeClosedFolder({ driver: "disk", dir });
  expect([await at(folder), await at(join(folder, "a/b"))]).toEqual([null, null]);
  writeFileSync(join(folder, "file"), "");
  expect(await at(join(folder, "file/b"))).toContain("(ENOTDIR)");
});
