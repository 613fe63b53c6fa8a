// If this file fails, an operator cannot check whether stored files are intact, or loses some by cleaning up.
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { copyApplication } from "../support/application-folder.ts";
import { svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { emptyFolder } from "../support/files.ts";

const db = database();
let app: string;
let folder: string;
let disk: DiskDriver;

beforeAll(async () => {
  app = await copyApplication("tests/fixture");
  folder = join(app, ".svc/storage");
  disk = new DiskDriver(folder);
});
afterAll(() => rm(app, { recursive: true, force: true }));
beforeEach(async () => {
  await db.sql("delete from svc.storage_objects");
  await emptyFolder(folder);
});

const run = (...args: string[]) => svcHere(db, app, ["storage", ...args]);

async function stored(content: string, name = "a.txt"): Promise<string> {
  const id = randomUUID();
  await disk.put(`objects/${id}`, bytes(content));
  const sha256 = createHash("sha256").update(content).digest("hex");
  await db.sql("insert into svc.storage_objects (id, name, size, type, sha256) values ($1, $2, $3, 'text/plain', $4)", [
    id,
    name,
    content.length,
    sha256,
  ]);
  return id;
}
async function* bytes(content: string) {
  yield Buffer.from(content);
}
const pathOf = (id: string) => join(folder, "objects", id.slice(0, 2), id);

describe("svc storage", () => {
  test("lists what is stored, and shows one file", async () => {
    const first = await stored("one", "first.txt");
    const second = await stored("three", "second.txt");
    const { code, out } = await run("ls");
    expect(code).toBe(0);
    expect(out).toMatch(/^id +size +type +visibility +owner +stored \(UTC\) +name\n/);
    expect(out).toMatch(new RegExp(`${first} +3 +text/plain +private +- +[-\\d]+ [:\\d]+ +first.txt`));
    expect((await run("ls", "--limit", "1")).out).not.toContain("first.txt");
    expect((await run("ls", "--user", "nobody")).out).not.toContain(".txt");
    const shown = await run("show", second);
    expect(shown.out).toMatch(/^name +second.txt$/m);
    expect(shown.out).toMatch(/^size +5 bytes$/m);
  });

  test.each([
    [["show", "7"], /"7" is not a storage id/],
    [["show", "00000000-0000-4000-8000-000000000000"], /Nothing is stored under/],
    [["ls", "--limit", "many"], /--limit many is not a whole number/],
    [["gc", "--hours", "-1"], /--hours -1 is not a whole number/],
  ] as [string[], RegExp][])("%j says what is wrong", async (args, message) => {
    const { code, error } = await run(...args);
    expect([code, error]).toEqual([1, expect.stringMatching(message)]);
  });

  test("verify finds what is missing, cut short or changed, and only that", async () => {
    const whole = await stored("whole");
    const [missing, short, changed] = [await stored("missing"), await stored("short"), await stored("changed")];
    expect(await run("verify")).toMatchObject({ code: 0, out: "" });
    await unlink(pathOf(missing));
    await writeFile(pathOf(short), "shor");
    await writeFile(pathOf(changed), "CHANGED");
    const { code, out, error } = await run("verify");
    expect(code).toBe(1);
    expect(out.trimEnd().split("\n").sort()).toEqual(
      [`${missing}  missing`, `${short}  another size`, `${changed}  other bytes`].sort(),
    );
    expect(error).toContain("4 files, 16 bytes: 3 are damaged.");
    expect(out).not.toContain(whole);
  });

  test("gc removes what no row speaks of once it is old enough, and nothing else", async () => {
    const kept = await stored("kept");
    const orphan = randomUUID();
    await disk.put(`objects/${orphan}`, bytes("nobody's"));
    await disk.put(`transforms/${orphan}/10`, bytes("nobody's, small"));
    await disk.put(`transforms/${kept}/10`, bytes("kept, small"));
    expect((await run("gc")).error).toContain("Nothing to remove.");
    expect(existsSync(pathOf(orphan))).toBe(true);
    expect((await run("gc", "--hours", "0")).error).toContain("Removed the bytes of 1 files.");
    expect(existsSync(pathOf(orphan))).toBe(false);
    expect(await disk.readWhole(`transforms/${orphan}/10`)).toBeNull();
    expect(await disk.readWhole(`transforms/${kept}/10`)).not.toBeNull();
    expect((await run("verify")).code).toBe(0);
  });

  test("gc leaves files to the database that swept them, and --adopt takes them over", async () => {
    const orphan = randomUUID();
    await disk.put(`objects/${orphan}`, bytes("another database's"));
    await disk.put("mark", Buffer.from(`${randomUUID()} 3`));
    for (const args of [["gc", "--hours", "0"], ["gc"]]) {
      expect(await run(...args)).toMatchObject({ code: 1, error: expect.stringContaining("were not removed") });
    }
    expect((await run("gc", "--adopt", "--hours", "0")).error).toContain("Nothing was removed yet.");
    expect(existsSync(pathOf(orphan))).toBe(true);
    expect((await run("gc", "--hours", "0")).error).toContain("Removed the bytes of 1 files.");
  });
});
