// If this file fails, callers take a full disk for a mistake of the application, or the service does not recover from it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
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

test.skipIf(!isMounted)(
  `a full disk of the files is answered by 503, and used again when there is room${why}`,
  async () => {
    const ann = await svc.signUp("ann");
    const write = () => Promise.all([upload(ann, 10_000), upload(ann, 200_000), svc.mutate(ann, "full.buffer")]);
    expect((await write()).map(({ status }) => status)).toEqual([200, 200, 200]);

    const filler = join(dir, "filler");
    const { bavail, bsize } = statfsSync(dir);
    writeFileSync(filler, new Uint8Array(bavail * bsize));
    for (const { status, body } of await write()) {
      expect([status, body.code, body.error]).toEqual([503, "UNAVAILABLE", "There is no room for this at the moment."]);
    }
    expect((await svc.query(ann, "notes.list")).status).toBe(200);

    rmSync(filler);
    expect((await write()).map(({ status }) => status)).toEqual([200, 200, 200]);
  },
);
