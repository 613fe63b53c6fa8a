// If this file fails, a killed backup or restore leaves something that looks complete.
import { randomUUID } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { checkBackup } from "../../src/backup/check.ts";
import { type Manifest, writeManifest } from "../../src/backup/manifest.ts";
import { takeBackup } from "../../src/backup/take.ts";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { backupsFolder, hasPrograms, restore, rowsOf, take } from "../support/backups.ts";
import { type Command, svc } from "../support/cli.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { type Database, database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();
const target = database();
const backups = backupsFolder();
const folder = (name: string) => join(backups, name);
let app: string;

beforeAll(async () => {
  app = await mkdtemp(join(root, ".svc/backup-"));
  await cp(join(root, "tests/fixture"), app, { recursive: true });
  await db.sql("insert into guestbook (message) select 'hello ' || n from generate_series(1, 1000) n");
  await target.sql("insert into guestbook (message) values ('what was there')");
});
afterAll(() => rm(app, { recursive: true, force: true }));

/** Resolves when a database command waits for the lock that a test holds. */
async function waiting(from: Database, command: Command): Promise<void> {
  for (;;) {
    const [row] = await from.sql<{ n: number }>(
      "select count(*)::int as n from pg_locks l join pg_database d on d.oid = l.database where not granted and datname = current_database()",
    );
    if (row?.n) return;
    if (command.child.exitCode !== null) throw new Error(`It did not wait: ${command.output()}`);
    await pause(20);
  }
}

/** Locks a table, so that a command that needs it is in the middle of its work. */
async function withLock<T>(from: Database, work: () => Promise<T>): Promise<T> {
  const holder = await from.connect("admin");
  await holder.query("begin");
  await holder.query("lock table guestbook in access exclusive mode");
  try {
    return await work();
  } finally {
    await holder.query("rollback");
  }
}

async function killed(command: Command): Promise<void> {
  command.child.kill("SIGKILL");
  await command.ended;
}

describe.skipIf(!(await hasPrograms(inject("serverVersion"))))("killed in the middle", () => {
  test("a backup is none, and the next one takes its place", async () => {
    await withLock(db, async () => {
      const command = svc(db, app, ["db", "backup", folder("killed")]);
      await waiting(db, command);
      await killed(command);
    });
    expect(await readdir(backups)).toEqual(["killed.incomplete"]);
    await expect(checkBackup(folder("killed"))).rejects.toThrow("is not a backup");
    await expect(checkBackup(folder("killed.incomplete"))).rejects.toThrow("is not a backup");
    await take(db, new DiskDriver(folder("none")), folder("killed"));
    expect(await readdir(backups)).toEqual(["killed"]);
    expect((await checkBackup(folder("killed"))).problems).toEqual([]);
  });

  test("a second backup at once refuses, and leaves the files of the first", async () => {
    await withLock(db, async () => {
      const first = svc(db, app, ["db", "backup", folder("twice")]);
      await waiting(db, first);
      const second = take(db, new DiskDriver(folder("none")), folder("twice"));
      await expect(second).rejects.toThrow("Another backup of this database runs. Nothing was done.");
      expect(await readdir(backups)).toContain("twice.incomplete");
      await killed(first);
    });
    await rm(folder("twice.incomplete"), { recursive: true });
  });

  test("one that is interrupted before its dump begins does not wait for it", async () => {
    const signal = AbortSignal.abort(new Error("Interrupted."));
    const options = { adminUrl: db.url("admin"), driver: new DiskDriver(folder("none")), version: "0.0.0", signal };
    await withLock(db, () =>
      expect(takeBackup({ ...options, folder: folder("early") })).rejects.toThrow("Interrupted."),
    );
    expect(await readdir(backups)).toEqual(["killed"]);
  });

  test("files that somebody has put into its folder meanwhile stay", async () => {
    await mkdir(folder("used"));
    const backup = await withLock(db, async () => {
      const command = svc(db, app, ["db", "backup", folder("used")]);
      await waiting(db, command);
      await writeFile(join(folder("used"), "notes.txt"), "mine");
      return command;
    });
    expect(await backup.ended).toMatchObject({ code: 1, error: expect.stringContaining("used is not empty.") });
    expect(await readdir(folder("used"))).toEqual(["notes.txt"]);
    await rm(folder("used"), { recursive: true });
  });

  test("a trial restore that is interrupted while its database is made leaves none", async () => {
    const watcher = await db.connect("admin");
    const trial = svc(db, app, ["db", "verify", folder("killed"), "--deep"]);
    const name = `svc_verify_${trial.child.pid}_%`;
    const making = "select from pg_stat_activity where query like 'create database ' || $1 and state = 'active'";
    const isMade = async () => (await watcher.query(making, [name])).rowCount === 1;
    while (!(await isMade()) && trial.child.exitCode === null);
    trial.child.kill("SIGINT");
    await trial.ended;
    while (await isMade()); // the server notices late that its client is gone
    const { rows } = await watcher.query("select datname from pg_database where datname like $1", [name]);
    expect([trial.child.signalCode, rows]).toEqual(["SIGINT", []]);
  });

  test("a restore whose connection is lost at its commit does not say that the database is unchanged", async () => {
    const proxy = await CuttingProxy.start(target.url("admin"));
    const restored = () => restore(target, folder("killed"), folder("bytes"), { force: true, adminUrl: proxy.url });
    try {
      proxy.cut = { at: "\x0ccommit;", when: "after" };
      await expect(restored()).rejects.toThrow(/during the commit: \S+ is restored, or unchanged/);
      proxy.cut = { at: "analyze;", when: "before" };
      await expect(restored()).resolves.toBeUndefined(); // only the statistics are missing
      expect(proxy.cuts).toBe(2);
    } finally {
      await proxy.stop();
    }
  });

  test("a restore leaves the database as it was", async () => {
    const before = await rowsOf(target);
    await withLock(target, async () => {
      const command = svc(target, app, ["db", "restore", folder("killed"), "--force"]);
      await waiting(target, command);
      await killed(command);
    });
    // Its connections end a moment later than the process.
    await expect.poll(() => rowsOf(target)).toEqual(before);
  });

  test.runIf(process.env.CHAOS_KILLS)("a backup at any moment is whole or none", { timeout: 3_600_000 }, async () => {
    // Killed within the time that one takes here, or shortly after.
    const start = performance.now();
    await svc(db, app, ["db", "backup", folder("timed")]).ended;
    const taken = performance.now() - start;
    let whole = 0;
    for (let round = 0; round < Number(process.env.CHAOS_KILLS); round++) {
      const name = folder(`chaos-${round}`);
      const command = svc(db, app, ["db", "backup", name]);
      await Promise.race([pause(Math.random() * taken * 1.5), command.ended]);
      await killed(command);
      const checkup = await checkBackup(name).catch((error) => String(error));
      if (typeof checkup === "string") expect(checkup).toContain("is not a backup");
      else expect([checkup.problems, ++whole]).toEqual([[], whole]);
      await rm(name, { recursive: true, force: true });
    }
    console.info(`${whole} backups were whole.`);
  });
});

describe.skipIf(!(await hasPrograms(inject("serverVersion"))))("a backup that is not what it says", () => {
  const damaged = async (name: string, change: (manifest: Manifest) => Manifest) => {
    const { manifest } = await checkBackup(folder("killed"));
    await cp(folder("killed"), folder(name), { recursive: true });
    await writeFile(join(folder(name), "manifest.json"), writeManifest(change(manifest)));
  };

  test("is found by its checksums: the dump, a file, the list, the manifest", async () => {
    const bytes = new DiskDriver(folder("source"));
    const id = randomUUID();
    await bytes.put(`objects/${id}`, [Buffer.from("hello")] as never);
    await db.sql(
      `insert into svc.storage_objects (id, name, size, type, sha256)
       values ($1, 'a', 5, 'text/plain', encode(sha256('hello'), 'hex'))`,
      [id],
    );
    await take(db, bytes, folder("good"));
    const object = join("storage/objects", id.slice(0, 2), id);
    for (const [file, text, problem] of [
      ["database.dump", "PGDMP", /^database.dump: 5 bytes instead of \d+$/],
      [object, "hallo", new RegExp(`^objects/${id}: other bytes$`)],
      [object, null, new RegExp(`^objects/${id}: missing$`)],
      ["files.jsonl", "", /^files.jsonl: 0 bytes/],
    ] as const) {
      await cp(folder("good"), folder("bad"), { recursive: true });
      if (text === null) await rm(join(folder("bad"), file));
      else await writeFile(join(folder("bad"), file), text);
      expect((await checkBackup(folder("bad"))).problems).toEqual([expect.stringMatching(problem)]);
      await rm(folder("bad"), { recursive: true });
    }
    const manifest = join(folder("good"), "manifest.json");
    await writeFile(manifest, (await readFile(manifest, "utf8")).replace('"rows": 1000', '"rows": 1001'));
    await expect(checkBackup(folder("good"))).rejects.toThrow("its checksum differs");
  });

  test("is not restored: rows, definitions and sequences are compared before the commit", async () => {
    const before = await rowsOf(target);
    const cases: [string, (manifest: Manifest) => Manifest, RegExp][] = [
      [
        "rows",
        (m) => ({ ...m, tables: m.tables.map((one) => ({ ...one, hash: one.hash.replace(/^\d+/, "1") })) }),
        /rows where the backup has/,
      ],
      ["definitions", (m) => ({ ...m, definitions: m.definitions.slice(1) }), /its definition, policies or grants/],
      // psql ends before pg_restore has begun. The process ended with it, and left the trial database of verify --deep.
      [
        "privileges",
        (m) => ({
          ...m,
          clusterState: { ...m.clusterState, privileges: [{ to: "nobody_here", privilege: "connect" }] },
        }),
        /role "nobody_here" does not exist/,
      ],
    ];
    for (const [name, change, problem] of cases) {
      await damaged(name, change);
      await expect(restore(target, folder(name), folder("bytes"), { force: true })).rejects.toThrow(problem);
    }
    expect(await rowsOf(target)).toEqual(before);
  });
});
