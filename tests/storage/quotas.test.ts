// If this file fails, one user, or anonymous callers, fill the disk that all files share; or a file that was deleted,
// or never arrived, still counts.
import type pg from "pg";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemIdentity } from "../../src/postgres/identity.ts";
import { RequestTransaction } from "../../src/postgres/transaction.ts";
import { CallStorage } from "../../src/storage/context.ts";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { createStorage } from "../../src/storage/storage.ts";
import { sweepStorage } from "../../src/storage/sweep.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database, waitsForLock } from "../support/database.ts";
import { bytesFolder, fileProcedures, send, stored } from "../support/files.ts";
import { type Answer, apiWith, secret, service, type User } from "../support/service.ts";
import { begun, broken, collection, create, patch, pattern, tus } from "../support/uploads.ts";
import { until } from "../support/worker.ts";

const db = database();
const dir = bytesFolder();
const size = 100_000;
const quota = 10 * size;
const bytes = new Uint8Array(pattern(size));
const storage = { driver: "disk" as const, dir };
const limits = { uploadsPerUser: 1000, storageBytesPerUser: quota, storageBytesAnonymous: quota };
const svc = service(db, apiWith({ procedures: fileProcedures }), { storage, limits });
const small = service(db, apiWith({ procedures: fileProcedures }), {
  storage,
  limits: { storageBytes: quota, storageBytesPerUser: false, storageBytesAnonymous: false },
});
const closed = service(db, apiWith({ procedures: fileProcedures }), {
  storage,
  uploads: { enabled: false, public: false },
});
let pool: pg.Pool;
let ann: User;
let bob: User;

beforeAll(async () => {
  pool = db.pool("system");
});
beforeEach(async () => {
  await db.sql("delete from svc.storage_objects");
  await db.sql("delete from svc.storage_uploads");
  ann = await svc.signUp("ann");
  bob = await svc.signUp("bob");
});

const file = () => new File([bytes], "a.bin");
const sixty = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: 60 }, make));
/** The number of stored files; all others were refused for lack of room. */
function taken(answers: Answer[]): number {
  const refused = answers.filter(({ status }) => status >= 400);
  for (const { status, body } of refused) expect([status, body.code]).toEqual([413, "STORAGE_QUOTA_EXCEEDED"]);
  return answers.length - refused.length;
}
const totals = async () => {
  const kept = await db.sql(
    "select bucket, sum(bytes)::float8 as bytes from svc_private.storage_usage group by 1 having sum(bytes) <> 0 order by 1",
  );
  const real = await db.sql(
    `select b as bucket, sum(greatest(size, 4096))::float8 as bytes
       from (select user_id, by_system, size from svc.storage_objects
             union all select user_id, by_system, size from svc.storage_uploads) o
      cross join lateral (values ('all'), (svc_private.storage_bucket(user_id, by_system))) v (b) group by 1 order by 1`,
  );
  expect(kept).toEqual(real);
  return new Map(kept.map(({ bucket, bytes }) => [bucket, bytes]));
};

describe("of sixty at once", () => {
  test("ten uploads in parts begin, and the ten finish", async () => {
    const answers = await sixty(() => create(svc, ann, size));
    expect(taken(answers)).toBe(10);
    for (const { headers } of answers) {
      const id = headers.get("location")?.slice(collection.length + 1);
      if (id) expect((await patch(svc, ann, id, 0, bytes)).status).toBe(204);
    }
    expect(taken([await create(svc, ann, 1)])).toBe(0);
    expect((await totals()).get(`user ${ann.id}`)).toBe(quota);
    expect(taken([await create(svc, bob, size)])).toBe(1);
  });

  test("ten files of calls are stored, whatever the users of others do", async () => {
    const [mine, theirs] = await Promise.all([
      sixty(() => send(svc, ann, "files.store", file())),
      send(svc, bob, "files.store", file()),
    ]);
    expect([taken(mine), taken([theirs])]).toEqual([10, 1]);
    expect((await totals()).get(`user ${ann.id}`)).toBe(quota);
    expect(await broken(new DiskDriver(dir), pool)).toEqual([]);
  });

  test("ten of those who are not signed in, who share one quota", async () => {
    expect(taken(await sixty(() => send(svc, null, "files.store", file())))).toBe(10);
    expect((await totals()).get("anonymous")).toBe(quota);
  });

  test("ten signed URLs are made", async () => {
    const options = { maxBytes: size };
    expect(taken(await sixty(() => svc.mutate(ann, "files.uploadUrl", { options })))).toBe(10);
    expect((await totals()).get(`user ${ann.id}`)).toBe(quota);
  });

  test("ten of different users, where that is what all may store together", async () => {
    const users = await Promise.all(Array.from({ length: 6 }, (_, at) => small.signUp(`u${at}`)));
    const answers = users.flatMap((user) => Array.from({ length: 10 }, () => send(small, user, "files.store", file())));
    expect(taken(await Promise.all(answers))).toBe(10);
    expect((await totals()).get("all")).toBe(quota);
  });
});

describe("room is free again", () => {
  const fill = async () => {
    for (let at = 0; at < 9; at++) await stored(svc, ann, file());
    expect(taken([await create(svc, ann, 2 * size)])).toBe(0);
  };
  const more = async () => taken([await send(svc, ann, "files.store", file())]);

  test("when a file is deleted", async () => {
    await fill();
    const id = await stored(svc, ann, file());
    expect(await more()).toBe(0);
    expect((await svc.mutate(ann, "files.remove", { id })).status).toBe(200);
    expect(await more()).toBe(1);
  });

  test("when an upload is given up, or has expired", async () => {
    await fill();
    const id = await begun(svc, ann, size);
    expect(await more()).toBe(0);
    const headers = { ...tus, authorization: `Bearer ${ann.token}` };
    expect((await svc.fetch(`${collection}/${id}`, { method: "DELETE", headers })).status).toBe(204);
    const other = await begun(svc, ann, size);
    expect(await more()).toBe(0);
    await db.sql("update svc.storage_uploads set expires_at = now() - interval '1 second' where id = $1", [other]);
    expect(await more()).toBe(1);
    await totals();
  });

  test("when the call that stored a file, or made a URL, fails", async () => {
    await fill();
    expect((await send(svc, ann, "files.store", file(), { fail: true })).status).toBe(500);
    const options = { maxBytes: size };
    expect((await svc.mutate(ann, "files.uploadUrl", { options, fail: true })).status).toBe(409);
    expect(await db.sql("select from svc.storage_uploads")).toEqual([]);
    expect(await more()).toBe(1);
  });

  test("when less came than a signed URL was made for", async () => {
    await fill();
    const { url } = (await svc.mutate(ann, "files.uploadUrl", { options: { maxBytes: size } })).body.json;
    expect(await more()).toBe(0);
    expect((await svc.fetch(url, { method: "PUT", body: "few" })).status).toBe(200);
    expect((await totals()).get(`user ${ann.id}`)).toBe(9 * size + 4096);
  });

  test("when a user is deleted, and the counters are folded into few rows", async () => {
    await fill();
    await db.sql(`delete from auth."user" where id = $1`, [ann.id]);
    expect(await totals()).toEqual(new Map());
    await db.sql("select svc_private.fold_storage_usage()");
    expect(await db.sql("select from svc_private.storage_usage")).toEqual([]);
  });

  test("when an operator has given the files to somebody else, after the next sweep", async () => {
    await fill();
    await db.sql("update svc.storage_objects set user_id = $2 where user_id = $1", [ann.id, bob.id]);
    await sweepStorage({ driver: new DiskDriver(dir), pool, log: createLog("silent") });
    expect(await totals()).toEqual(new Map(["all", `user ${bob.id}`].map((bucket) => [bucket, 9 * size])));
    expect(await more()).toBe(1);
  });
});

test("two sweeps at once correct the counters once", async () => {
  await send(svc, ann, "files.store", file());
  await db.sql("update svc.storage_objects set user_id = $1", [bob.id]);
  const [first, second] = [await db.connect("system"), await db.connect("system")];
  const recount = "select svc_private.recount_stored_bytes()";
  await first.query("begin");
  await first.query(recount);
  const other = second.query(recount);
  await Promise.race([other, until(async () => (await db.sql(waitsForLock)).length > 0)]);
  await first.query("commit");
  await other;
  expect((await totals()).get(`user ${bob.id}`)).toBe(size);
});

test("a file counts at least as much as a block of a disk", async () => {
  await stored(svc, ann, new File([], "empty"));
  expect((await totals()).get(`user ${ann.id}`)).toBe(4096);
});

test("files that the system stores count for everybody together, and are never refused", async () => {
  const none = { enabled: true, public: false };
  const config = { storage, uploads: none, limits: { ...limits, uploadBytes: size, storageBytes: 4096 } } as const;
  const bytesOf = createStorage({ config: config as never, secrets: [secret], pool, log: createLog("silent") });
  const asSystem = async <T>(work: (files: CallStorage) => Promise<T>) => {
    const times = { statementTimeoutMs: 10_000, idleInTransactionMs: 10_000 };
    const transaction = new RequestTransaction(pool, systemIdentity, "write", times);
    const result = await work(new CallStorage(bytesOf, transaction, "write"));
    await transaction.commit();
    return result;
  };
  const id = await asSystem((files) => files.store(new File([new Uint8Array(quota)], "report.bin")));
  const { url } = await asSystem((files) => files.createUploadUrl({ maxBytes: size }));
  expect((await svc.fetch(url, { method: "PUT", body: bytes })).status).toBe(200);
  const { url: granted } = await asSystem((again) => again.createReadGrant(id));
  expect((await svc.fetch(granted)).status).toBe(200);
  expect(Object.fromEntries(await totals())).toEqual({ all: quota + size, system: quota + size });
  expect(taken([await send(svc, null, "files.store", file())])).toBe(1);
  expect(taken([await send(small, null, "files.store", file())])).toBe(0);
});

describe("uploads in parts", () => {
  test("are private, unless the application lets them be public", async () => {
    const { status, body } = await create(svc, ann, 5, { visibility: "public" });
    expect([status, body.code, body.hint]).toEqual([403, "FORBIDDEN", expect.stringContaining("uploads.public")]);
    expect((await send(svc, ann, "files.store", file(), { visibility: "public" })).status).toBe(200);
  });

  test("are not taken where they are switched off, and signed URLs are", async () => {
    const user = await closed.signUp("cleo");
    expect((await create(closed, user, 5)).status).toBe(404);
    const { url } = (await closed.mutate(user, "files.uploadUrl", {})).body.json;
    expect((await closed.fetch(url, { method: "PUT", body: "x" })).status).toBe(200);
  });
});

test("only the reservation of a user's call may be lost in a crash of the server", async () => {
  const client = await pool.connect();
  const commits = async (system: boolean, kind: "call" | "parts") => {
    await client.query("begin; set local synchronous_commit to on");
    const { rows } = await client.query(
      `select current_setting('synchronous_commit') as waits
         from svc_private.reserve_upload($1, $2, $3, 'a.bin', 'a/b', 'private', 5, '1 hour', 10, null, null)`,
      [system ? null : ann.id, system, kind],
    );
    await client.query("rollback");
    return rows[0].waits;
  };
  const waits = [await commits(false, "call"), await commits(false, "parts"), await commits(true, "call")];
  client.release();
  expect(waits).toEqual(["off", "on", "on"]);
});
