// If this file fails, finishing an upload writes its bytes again, or a process that is killed meanwhile loses some.
import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { Incoming } from "../../src/storage/incoming.ts";
import { createStorage } from "../../src/storage/storage.ts";
import { Uploads } from "../../src/storage/uploads.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { apiWith, secret, service, TestService, type User } from "../support/service.ts";
import { begun, broken, offsetOf, patch, pattern } from "../support/uploads.ts";

const db = database();
let pool: pg.Pool;
beforeAll(() => {
  pool = db.pool("system");
});

const size = 600_000;
const bytes = pattern(size);
const sha256 = createHash("sha256").update(bytes).digest("hex");
/** One of three parts. */
const third = (index: number) => new Uint8Array(bytes.subarray((index * size) / 3, ((index + 1) * size) / 3));

async function expectStored(id: string, driver: DiskDriver): Promise<void> {
  const [row] = await db.sql("select size::int, sha256 from svc.storage_objects where id = $1", [id]);
  expect(row).toEqual({ size, sha256 });
  expect(await broken(driver, pool)).toEqual([]);
}

describe("a process that lives", () => {
  const dir = bytesFolder();
  const config = {
    storage: { driver: "disk", dir },
    limits: { uploadBytes: size },
    uploads: { enabled: true, public: false },
  };
  const svc = service(db, apiWith(), { storage: { driver: "disk", dir } });
  const log = createLog("silent");
  const uploads = () => new Uploads(createStorage({ config: config as never, secrets: [secret], pool, log }));
  // The other processes have another folder.
  afterEach(() => db.sql("delete from svc.storage_objects").then(() => {}));

  test("writes each byte of an upload in three parts once", async () => {
    const ann = await svc.signUp("ann");
    const id = await begun(svc, ann, size);
    const written = await countWrites(async () => {
      for (const index of [0, 1, 2]) {
        expect((await patch(svc, ann, id, (index * size) / 3, third(index))).status).toBe(204);
      }
    });
    expect(written).toBe(size);
    await expectStored(id, new DiskDriver(dir));
  });

  test("keeps what has come of a request that breaks off, also if it would have brought all of the file", async () => {
    const ann = await svc.signUp("bob");
    const id = await begun(svc, ann, size);
    const body = (async function* () {
      yield third(0);
      throw new Error("The sender is gone.");
    })();
    const { received } = await uploads().append(id, ann.id, 0, new Incoming(body, size));
    expect(received).toBe(size / 3);
    expect((await patch(svc, ann, id, received, new Uint8Array(bytes.subarray(received)))).status).toBe(204);
    await expectStored(id, new DiskDriver(dir));
  });

  test("does not count the whole file once a part of it has come", async () => {
    const ann = await svc.signUp("dan");
    const id = await begun(svc, ann, size);
    const whole = (async function* () {
      yield Buffer.alloc(10);
      expect((await patch(svc, ann, id, 0, third(0))).status).toBe(204);
      yield Buffer.alloc(size - 10);
    })();
    const sent = uploads().append(id, ann.id, 0, new Incoming(whole, size));
    await expect(sent).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await offsetOf(svc, ann, id)).toBe(size / 3);
    expect((await patch(svc, ann, id, size / 3, new Uint8Array(bytes.subarray(size / 3)))).status).toBe(204);
    await expectStored(id, new DiskDriver(dir));
  });
});

describe("a process that is killed", () => {
  const dir = bytesFolder();
  const driver = new DiskDriver(dir);
  class Remote extends TestService {
    at = "";
    override get url() {
      return this.at;
    }
  }
  const remote = new Remote(db, apiWith(), {});
  const children: ChildProcess[] = [];
  afterAll(() => children.map((child) => child.kill("SIGKILL")));
  let user: User;

  /** @param kill such as `before link`: the process kills itself before that call of the file system */
  async function start(kill?: string): Promise<string> {
    const args = [JSON.stringify(db.urls), dir, secret];
    const execArgv = kill ? ["--import", preload(kill)] : [];
    const child = fork(join(import.meta.dirname, "../support/service-child.ts"), args, { execArgv });
    children.push(child);
    const [url] = await once(child, "message");
    return url;
  }
  let survivor = "";

  beforeAll(async () => {
    survivor = await start();
    remote.at = survivor;
    const ann = await remote.signUp("cat");
    // JWTs are bound to an origin, and each process has a different one.
    user = { ...ann, token: ann.sessionToken };
  });

  /** Sends parts of an upload to a process that kills itself; afterwards another process has the file. */
  async function killed(kill: string, id: string, offsets: readonly number[]): Promise<void> {
    remote.at = await start(kill);
    const gone = once(children.at(-1) as ChildProcess, "exit");
    for (const [index, start] of offsets.entries()) {
      const body = new Uint8Array(bytes.subarray(start, offsets[index + 1] ?? size));
      const sent = patch(remote, user, id, start, body);
      await (index === offsets.length - 1 ? sent.catch(() => {}) : sent);
    }
    expect(await gone).toEqual([null, "SIGKILL"]);
    remote.at = survivor;
    // Counted bytes are already complete.
    expect(await broken(driver, pool)).toEqual([]);
    const offset = (await offsetOf(remote, user, id)) ?? Number.NaN;
    if (offset < size) await patch(remote, user, id, offset, new Uint8Array(bytes.subarray(offset)));
    await expectStored(id, driver);
  }

  // None of these steps happens: the process lives.
  test.each(["truncate", "link", "rm"])("has no %s to make for an upload of one request", async (step) => {
    remote.at = survivor;
    const id = await begun(remote, user, size);
    remote.at = await start(`before ${step}`);
    expect((await patch(remote, user, id, 0, new Uint8Array(bytes))).status).toBe(204);
    await expectStored(id, driver);
  });

  test.each(["before rename", "after rename"])("%s of an upload of one request, loses nothing", async (kill) => {
    remote.at = survivor;
    const id = await begun(remote, user, size);
    await killed(kill, id, [0]);
  });

  const steps = ["truncate", "link", "rm"].flatMap((step) => [`before ${step}`, `after ${step}`]);
  test.each(steps)("%s of the only part, loses nothing", async (kill) => {
    remote.at = survivor;
    const id = await begun(remote, user, size);
    await killed(kill, id, [0, size / 3]);
  });

  test.each(["before rename", "after rename", "before rm", "after rm"])(
    "%s, with parts of several processes, loses nothing",
    async (kill) => {
      remote.at = survivor;
      const id = await begun(remote, user, size);
      await patch(remote, user, id, 0, third(0));
      await killed(kill, id, [size / 3]);
    },
  );
});

/** Code that kills the process before or after its first call of a file system function for stored bytes. */
function preload(kill: string): string {
  const [when, name = ""] = kill.split(" ");
  const folder = name === "rm" || name === "truncate" ? "/uploads/" : "/objects/";
  const code = `
    import fs from "node:fs/promises";
    import { syncBuiltinESMExports } from "node:module";
    const original = fs.${name};
    fs.${name} = async (...args) => {
      const isStep = args.some((arg) => typeof arg === "string" && arg.includes("${folder}"));
      if (isStep && ${when === "before"}) process.kill(process.pid, "SIGKILL");
      const result = await original(...args);
      if (isStep) process.kill(process.pid, "SIGKILL");
      return result;
    };
    syncBuiltinESMExports();`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

/** Counts the bytes that this process writes to files. */
async function countWrites(work: () => Promise<void>): Promise<number> {
  const handle = await open(import.meta.filename);
  const methods: Record<string, (...args: unknown[]) => unknown> = Object.getPrototypeOf(handle);
  await handle.close();
  let written = 0;
  const lengthOf = (given: unknown): number =>
    Array.isArray(given) ? given.reduce((sum, one) => sum + lengthOf(one), 0) : (given as Uint8Array).byteLength;
  const replaced = ["write", "writev", "writeFile", "appendFile"].map((name) => {
    const original = methods[name] as (...args: unknown[]) => unknown;
    methods[name] = function (this: unknown, ...args: unknown[]) {
      written += lengthOf(args[0]);
      return original.apply(this, args);
    };
    return () => {
      methods[name] = original;
    };
  });
  await work().finally(() => replaced.map((restore) => restore()));
  return written;
}
