// If this file fails, a copy of production for tests sends mails and webhooks to customers, or keeps their names.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { backupsFolder, hasPrograms, take } from "../support/backups.ts";
import { svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { root } from "../support/global-setup.ts";
import { workers } from "../support/worker.ts";
import { webhooks } from "../webhooks/application.ts";
import { api } from "../webhooks/definitions.ts";

const db = database();
const [target, other, third] = [database("template0"), database("template0"), database("template0")];
const folder = join(backupsFolder(), "first");
const { got, config, addEndpoint, addNote } = webhooks(db);
const startWorker = workers(target, api);
const restore = (to: typeof db, ...args: string[]) =>
  svcHere(to, join(root, "tests/fixture"), ["db", "restore", folder, ...args]);

describe.skipIf(!(await hasPrograms(inject("serverVersion"))))("svc db restore", () => {
  test("--as-copy leaves nothing to be run or sent, and --sql changes rows before anybody sees them", async () => {
    await addEndpoint("ann", "/ann");
    await addNote("ann", "waits"); // a delivery
    await db.sql(
      "insert into auth.session (id, user_id, token, expires_at) select 's', 'ann', 'secret', now() + interval '1 day'",
    );
    await db.sql("select svc_private.enqueue_system_job('notes.mail', '{}', '0 s', null, null)");
    await db.sql(
      "select svc_private.start_system_workflow('pay', 1, '{}', null, '1 day', 1) from generate_series(1, 2)",
    );
    await db.sql(
      `insert into svc.storage_objects (id, user_id, name, size, type, sha256)
         values ('00000000-0000-4000-8000-000000000001', 'ann', 'talk.wav', 1, 'audio/wav', repeat('a', 64))`,
    );
    await db.sql(
      "insert into svc.ai_transcriptions (user_id, storage_id, model) select 'ann', id, 'whisper' from svc.storage_objects",
    );
    await db.sql("select svc_private.register_cron('nightly', '0 0 * * *', now())");
    await take(db, new DiskDriver(bytesFolder()), folder);

    const file = join(backupsFolder(), "mask.sql");
    await writeFile(file, `update auth."user" set name = 'somebody', email = id || '@example.invalid'; -- all of them`);
    const { code, text } = await restore(target, "--as-copy", "--sql", file);
    expect(code, text).toBe(0);

    const left = (table: string, columns: string) => target.sql(`select distinct ${columns} from ${table}`);
    expect(await left("auth.session", "id")).toEqual([]);
    expect(await left("graphile_worker._private_jobs", "id")).toEqual([]);
    expect(await left("svc.workflow_runs", "status, error_detail, wait_marker")).toEqual([
      { status: "cancelled", error_detail: "The database is a copy.", wait_marker: null },
    ]);
    expect(await left("svc.webhook_deliveries", "state, last_error")).toEqual([
      { state: "dead", last_error: "The database is a copy." },
    ]);
    expect(await left("svc.ai_transcriptions", "status, error, finished_at is null as open")).toEqual([
      { status: "failed", error: "The database is a copy.", open: false },
    ]);
    expect(await left("svc_private.crons", "name, paused_at is null as runs")).toEqual([
      { name: "nightly", runs: false },
    ]);
    expect(await left("endpoints", "enabled")).toEqual([{ enabled: false }]);
    expect(await left(`auth."user"`, "name, email like '%@example.invalid' as masked")).toEqual([
      { name: "somebody", masked: true },
    ]);

    // What changes in the copy is told to nobody.
    const worker = await startWorker({ config: await config() });
    onTestFinished(() => worker.stop());
    await target.sql("insert into notes (user_id, title) values ('ann', 'in the copy')");
    expect(await left("svc.webhook_deliveries", "state")).toEqual([{ state: "dead" }]);
    expect(got).toEqual([]);
  });

  test("what --sql changes is told to nobody either, and a table of endpoints that is gone stops nothing", async () => {
    await take(db, new DiskDriver(bytesFolder()), join(folder, "../second"));
    const file = join(backupsFolder(), "mask.sql");
    await writeFile(
      file,
      `\uFEFFinsert into notes (user_id, title) values ('ann', ':USER');\r\nalter table endpoints rename to gone; select svc_private.enqueue_system_job('notes.mail', '{}', '0 s', null, null) --`,
    );
    const args = [join(folder, "../second"), "--as-copy", "--sql", file];
    const { code, text } = await svcHere(third, join(root, "tests/fixture"), ["db", "restore", ...args]);
    expect(code, text).toBe(0);
    expect(await third.sql("select title from notes where title like ':%'")).toEqual([{ title: ":USER" }]);
    expect(await third.sql("select from svc.webhook_deliveries where state = 'pending'")).toEqual([]);
    expect(await third.sql("select from graphile_worker._private_jobs")).toEqual([]);
  });

  test.each([
    ["commit", "select 1;\ncommit;", /--sql .*wrong.sql:2: COMMIT.*/],
    ["rollback", "rollback", /--sql .*wrong.sql:1: ROLLBACK.*/],
    ["the end of psql", "\\q\n", /syntax error at or near "\\".*The database is unchanged/s],
    [
      "a setting of psql",
      "\\set ON_ERROR_STOP off\nselect 1/0;",
      /syntax error at or near "\\".*The database is unchanged/s,
    ],
    ["an open comment", "select 1 /* all of them", /unterminated .* comment.*The database is unchanged/s],
    ["rows of its own", "copy auth.session from stdin;\n1\n\\.\n", /.*The database is unchanged/s],
  ])("--sql with %s restores nothing, and says so", async (_, statements, reason) => {
    const file = join(backupsFolder(), "wrong.sql");
    await writeFile(file, statements);
    expect(await restore(other, "--sql", file)).toMatchObject({ code: 1, text: expect.stringMatching(reason) });
    expect(await other.sql("select to_regclass('auth.session') as it")).toEqual([{ it: null }]);
  });

  test("--sql that fails leaves the database as it was, and a file that is missing is named first", async () => {
    const file = join(backupsFolder(), "wrong.sql");
    await writeFile(file, "update nothing set name = 'somebody'");
    expect(await restore(other, "--sql", file)).toMatchObject({
      code: 1,
      text: expect.stringMatching(/relation "nothing" does not exist.*The database is unchanged/s),
    });
    expect(await other.sql("select to_regclass('auth.session') as it")).toEqual([{ it: null }]);
    expect(await restore(other, "--sql", `${file}.not`)).toMatchObject({
      code: 1,
      text: expect.stringMatching(/--sql .*wrong.sql.not cannot be read: ENOENT.* Nothing was done/),
    });
  });
});
