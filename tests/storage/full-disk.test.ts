// If this file fails, callers take a full disk for a mistake of the application, or the service does not recover from it.
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-full-"));
const isMounted = (() => {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "svc-test", dir], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
const why = isMounted ? "" : " [skipped: it needs root, to mount a small disk]";

const api = apiWith({
  procedures: {
    store: procedure.mutation
      .name("full.store")
      .input(z.object({ file: z.instanceof(File) }))
      .handler(({ context, input }) => context.storage.store(input.file)),
    buffer: procedure.mutation
      .name("full.buffer")
      .handler(({ context }) => context.storage.storeBuffer(new Uint8Array(100_000), "a.bin", "text/plain")),
  },
});
const db = database();
const svc = service(db, api, { storage: { driver: "disk", dir: join(dir, "files") } });
afterAll(() => {
  if (isMounted) execFileSync("umount", ["--lazy", dir]);
  rmdirSync(dir);
});

/** Below 64 KiB a file of a form is kept in memory, above in a file. */
function upload(user: User, size: number) {
  const body = new FormData();
  body.set("data", JSON.stringify({ json: { name: "full.store", args: { file: null } }, maps: [["args", "file"]] }));
  body.set("0", new File([new Uint8Array(size)], "a.bin"));
  return svc.fetch("/api/mutation", { method: "POST", headers: bearer(user), body });
}

/** Until the disk takes no byte more. */
function fill(path: string): void {
  try {
    for (;;) appendFileSync(path, new Uint8Array(4_096));
  } catch (error) {
    expect(error).toMatchObject({ code: "ENOSPC" });
  }
}

test.skipIf(!isMounted)(
  `a full disk of the files is answered by 503, and used again when there is room${why}`,
  async () => {
    const ann = await svc.signUp("ann");
    const write = () => Promise.all([upload(ann, 10_000), upload(ann, 200_000), svc.mutate(ann, "full.buffer")]);
    expect((await write()).map(({ status }) => status)).toEqual([200, 200, 200]);

    const filler = join(dir, "filler");
    const full = { status: 503, code: "UNAVAILABLE", error: "There is no room for this at the moment." };
    // What an earlier write leaves behind is deleted a moment later, which makes room again.
    const refused = async () => {
      fill(filler);
      return (await write()).map(({ status, body: { code, error } }) => ({ status, code, error }));
    };
    await expect.poll(refused).toEqual([full, full, full]);
    expect((await svc.query(ann, "notes.list")).status).toBe(200);
    // Writes to an open file have no path in Node's error.
    const causes = svc.logged.filter((line) => line.includes("ENOSPC"));
    expect(causes.filter((line) => !line.includes(dir))).toEqual([]);

    rmSync(filler);
    await expect.poll(async () => (await write()).map(({ status }) => status)).toEqual([200, 200, 200]);
  },
);

test.skipIf(!isMounted)(
  `a disk that is read-only is answered by 503, and used again when it is not${why}`,
  async () => {
    const ben = await svc.signUp("ben");
    const write = () => Promise.all([upload(ben, 10_000), upload(ben, 200_000), svc.mutate(ben, "full.buffer")]);
    const remount = (mode: string) => execFileSync("mount", ["-o", `remount,${mode}`, dir]);
    expect((await write()).map(({ status }) => status)).toEqual([200, 200, 200]);
    const failed = {
      status: 503,
      body: { code: "UNAVAILABLE", error: "Files cannot be stored or read at the moment." },
    };
    remount("ro");
    try {
      const answers = await write();
      expect(answers).toMatchObject([failed, failed, failed]);
      expect(answers.map(({ headers }) => headers.get("retry-after"))).toEqual(["60", "60", "60"]);
      const causes = svc.logged.filter((line) => line.includes("EROFS"));
      expect(causes.length).toBe(3);
      expect(causes.filter((line) => !line.includes(dir))).toEqual([]);
    } finally {
      remount("rw");
    }
    expect((await write()).map(({ status }) => status)).toEqual([200, 200, 200]);
  },
);
