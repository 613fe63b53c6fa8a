// If this file fails, an interrupted upload loses bytes, mixes them up, or leaves orphaned ones.
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { apiWith, bearer, secret, service, TestService, type User } from "../support/service.ts";
import { begun, broken, collection, offsetOf, patch, pattern, tus } from "../support/uploads.ts";

/** Faults of each kind; `npm run chaos` raises them. */
const faults = Number(process.env.CHAOS_UPLOADS ?? 6);
const minutes = 60_000 * Math.max(1, faults / 6);

const size = 700_000;
const db = database();
let pool: pg.Pool;
beforeAll(() => {
  pool = db.pool("system");
});
// Each describe has another folder.
afterEach(() => db.sql("delete from svc.storage_objects").then(() => {}));

const any = (most: number) => Math.floor(Math.random() * most);
const small = () => any(size / 3) + 1;

/** Sends a part of the promised bytes, and calls `end`. Resolves when the connection is closed. */
async function sendSome(
  url: string,
  user: User,
  id: string,
  from: number,
  bytes: Buffer,
  some: number,
  end: () => void,
) {
  const headers = {
    ...{ ...tus, ...bearer(user), "content-type": "application/offset+octet-stream" },
    ...{ "upload-offset": String(from), "content-length": String(bytes.length - from) },
  };
  const sending = request(`${url}${collection}/${id}`, { method: "PATCH", headers });
  const gone = new Promise<void>((resolve) => sending.on("close", resolve));
  sending.on("error", () => {}); // as it should be
  sending.on("response", (response) => response.resume());
  sending.write(bytes.subarray(from, from + some), () => {
    end();
    sending.destroy();
  });
  await gone;
}

/** Continues as a client does, in requests of any length, until the service has everything. */
async function complete(svc: TestService, user: User, id: string, bytes: Buffer): Promise<void> {
  for (;;) {
    const offset = (await offsetOf(svc, user, id)) ?? Number.NaN;
    if (offset === bytes.length) return;
    const rest = new Uint8Array(bytes.subarray(offset, offset + small()));
    const { status } = await patch(svc, user, id, offset, rest);
    // Bytes of the broken request may arrive a moment after the query for the offset.
    if (status !== 204 && status !== 409) throw new Error(`Going on at ${offset} was answered with ${status}.`);
  }
}

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
async function expectStored(id: string, bytes: Buffer): Promise<void> {
  const [row] = await db.sql("select size::int, sha256 from svc.storage_objects where id = $1", [id]);
  expect(row).toEqual({ size: bytes.length, sha256: sha256(bytes) });
}

describe("a sender that goes away", () => {
  const dir = bytesFolder();
  const svc = service(db, apiWith(), { storage: { driver: "disk", dir } });

  test(`at ${faults} moments, goes on where it was`, { timeout: minutes }, async () => {
    const ann = await svc.signUp("ann");
    for (let fault = 0; fault < faults; fault++) {
      const bytes = pattern(size, fault);
      const id = await begun(svc, ann, size);
      const from = any(2) * small();
      if (from > 0) await patch(svc, ann, id, 0, new Uint8Array(bytes.subarray(0, from)));
      await sendSome(svc.url, ann, id, from, bytes, any(size - from), () => {});
      await complete(svc, ann, id, bytes);
      await expectStored(id, bytes);
    }
    expect(await broken(new DiskDriver(dir), pool)).toEqual([]);
  });
});

describe("a service that is killed", () => {
  const dir = bytesFolder();
  const children: ChildProcess[] = [];
  afterAll(() => children.map((child) => child.kill("SIGKILL")));

  class Remote extends TestService {
    at = "";
    override get url() {
      return this.at;
    }
  }
  const remote = new Remote(db, apiWith(), {});
  /** JWTs are bound to an origin, and each child has a different one. */
  const signUp = async (name: string) => {
    const user = await remote.signUp(name);
    return { ...user, token: user.sessionToken };
  };

  async function start(): Promise<ChildProcess> {
    const child = fork(join(import.meta.dirname, "../support/service-child.ts"), [
      JSON.stringify(db.urls),
      dir,
      secret,
    ]);
    children.push(child);
    [remote.at] = await once(child, "message");
    return child;
  }

  const kills = Math.ceil(faults / 3);
  test(`at ${kills} moments, goes on where it was`, { timeout: minutes * 2 }, async () => {
    let child = await start();
    const ann = await signUp("ann");
    const driver = new DiskDriver(dir);
    for (let kill = 0; kill < kills; kill++) {
      const bytes = pattern(size, kill);
      const id = await begun(remote, ann, size);
      const gone = once(child, "exit");
      // Half of them with everything sent: during assembly, or during the answer.
      const some = kill % 2 === 0 ? size : any(size);
      const end = () => void setTimeout(() => child.kill("SIGKILL"), any(25));
      await sendSome(remote.url, ann, id, 0, bytes, some, end).finally(end);
      await gone;
      const before = await broken(driver, pool);
      child = await start();
      await complete(remote, ann, id, bytes);
      await expectStored(id, bytes);
      expect(before).toEqual([]);
    }
    expect(await broken(driver, pool)).toEqual([]);
  });

  const weight = Number(process.env.CHAOS_UPLOAD_BYTES ?? 128 * 1024 * 1024);
  test.skipIf(process.platform !== "linux")(
    `takes a file of ${Math.round(weight / 1024 / 1024)} MiB with at most 100 MB of memory more`,
    { timeout: minutes * 3 },
    async () => {
      const child = await start();
      const bob = await signUp("bob");
      const peak = () => 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]);
      const send = async (length: number) => {
        const id = await begun(remote, bob, length);
        const chunk = pattern(1024 * 1024);
        let left = length;
        const body = new ReadableStream({
          pull(controller) {
            const next = new Uint8Array(chunk.subarray(0, left));
            left -= next.length;
            if (next.length > 0) controller.enqueue(next);
            else controller.close();
          },
        });
        expect((await patch(remote, bob, id, 0, body)).status).toBe(204);
        return id;
      };
      await send(8 * 1024 * 1024);
      const before = peak();
      const id = await send(weight);
      const growth = peak() - before;
      const [row] = await db.sql("select size::float8 as size from svc.storage_objects where id = $1", [id]);
      expect(row?.size).toBe(weight);
      if (process.env.CHAOS_UPLOAD_BYTES) console.info(`grew by ${Math.round(growth / 1e6)} MB`);
      expect(growth).toBeLessThan(100_000_000);
    },
  );
});

/** A disk of three megabytes, or the reason why there is none: mounting needs privileges. */
function smallDisk(): string | null {
  const dir = mkdtempSync(join(tmpdir(), "svc-small-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", dir], { stdio: "pipe" });
    return dir;
  } catch {
    rmSync(dir, { recursive: true });
    return null;
  }
}
const disk = process.platform === "linux" ? smallDisk() : null;
afterAll(() => {
  if (disk) execFileSync("umount", ["-l", disk]);
  if (disk) rmSync(disk, { recursive: true, force: true });
});

describe.skipIf(disk === null)("a disk that is full (needs the rights to mount a small one)", () => {
  const dir = disk ?? "";
  const svc = service(db, apiWith(), { storage: { driver: "disk", dir } });

  test(`at ${faults} moments, is no loss once there is room`, { timeout: minutes }, async () => {
    const ann = await svc.signUp("ann");
    const driver = new DiskDriver(dir);
    let refused = 0;
    for (let fault = 0; fault < faults; fault++) {
      const bytes = pattern(size, fault);
      const id = await begun(svc, ann, size);
      const { bavail, bsize } = statfsSync(dir);
      // Room for nothing, for some parts, for all of them, and for nearly both copies: more with each fault.
      const room = Math.floor(((fault + Math.random()) / faults) * size * 2);
      writeFileSync(join(dir, "filler"), Buffer.alloc(Math.max(0, bavail * bsize - room)));
      for (let offset: number | null = 0, status = 204; status === 204 && offset !== null && offset < size; ) {
        ({ status } = await patch(svc, ann, id, offset, new Uint8Array(bytes.subarray(offset, offset + small()))));
        expect([204, 503]).toContain(status);
        if (status === 503) refused++;
        else offset = await offsetOf(svc, ann, id);
      }
      rmSync(join(dir, "filler"));
      await complete(svc, ann, id, bytes);
      await expectStored(id, bytes);
      expect(await broken(driver, pool)).toEqual([]);
      await db.sql("delete from svc.storage_objects where id = $1", [id]);
      await broken(driver, pool);
    }
    expect(refused).toBeGreaterThan(faults / 4);
  });
});
