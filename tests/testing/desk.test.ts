// If this file fails, an application's own tests differ from what its users see, or hide a failure.
import { join } from "node:path";
import { createTestApp, JobsFailed, type TestApp } from "@svc/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import seed from "../../examples/desk/backend/seed.ts";
import { api } from "../../examples/desk/web/svc/api.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { testServer } from "../support/test-server.ts";

const db = database("template0");
const cwd = join(root, "examples/desk");
let app: TestApp<typeof api>;
beforeAll(async () => {
  testServer(db);
  app = await createTestApp({ api, cwd, log: "silent" });
});
afterAll(() => app?.close());

test("everybody has a session of their own, and sees what is theirs", async () => {
  const [ann, bob] = await Promise.all([app.asUser({ name: "Ann" }), app.asUser()]);
  const { id } = await ann.mutate(api.tasks.create, { title: "Plants" });
  expect(ann.user.name).toBe("Ann");
  expect(await bob.query(api.tasks.get, { id })).toBeNull();
  expect((await (await app.asUser(ann.user.email)).query(api.tasks.get, { id }))?.title).toBe("Plants");
  await expect(app.anonymous().query(api.tasks.list)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  await expect(app.asUser("nobody@example.com")).rejects.toThrow("There is no user nobody@example.com");
});

// PostgreSQL ends idle connections when the database of a closed app is dropped. Without a listener that ended the process.
test("an idle connection of the app that PostgreSQL ends is replaced, and the tests go on", async () => {
  const [row] = await app.sql<{ pid: number }>("select pg_backend_pid() as pid");
  await db.sql(`select pg_terminate_backend(${row?.pid}, 5000)`);
  await expect.poll(() => app.sql("select 1 as one")).toEqual([{ one: 1 }]);
});

test("a field that is not declared is refused", async () => {
  await expect(app.asUser({ rle: "admin" })).rejects.toThrow('auth.ts declares no field "rle" of users. Known: none.');
});

test("a file is attached by its owner alone, who owns the task as well", async () => {
  const [ann, bob] = await Promise.all([app.asUser(), app.asUser()]);
  const [hers, his] = await Promise.all([ann, bob].map((user) => user.mutate(api.tasks.create, { title: "Plants" })));
  const stored = (owner: string) =>
    app.sql<{ id: string }>(
      `insert into svc.storage_objects (id, user_id, name, size, type, visibility, sha256)
       values (gen_random_uuid(), '${owner}', 'x', 1, 'text/plain', 'public', repeat('0', 64)) returning id`,
    );
  const [[file], [own]] = await Promise.all([stored(ann.user.id), stored(bob.user.id)]);
  const attach = (id: string | undefined, task: number | undefined) =>
    app.sql(`do $$ begin
      perform set_config('svc.user_id', '${bob.user.id}', true);
      set local role svc_authenticated;
      insert into public.attachments (id, task_id, user_id) values ('${id}', ${task}, '${bob.user.id}');
    end $$`);
  await expect(attach(file?.id, his?.id)).rejects.toThrow("row-level security");
  await expect(attach(own?.id, hers?.id)).rejects.toThrow("row-level security");
  await attach(own?.id, his?.id);
});

test("a visitor signs up with a password, and the mail stays in the box", async () => {
  const visitor = app.anonymous();
  await visitor.auth.signUp("Vic@example.com", "correct horse", "Vic");
  const { url } = await app.mail.next("verification", "vic@example.com");
  expect((await fetch(url, { redirect: "manual" })).status).toBe(302);
  expect(await app.sql(`select email_verified from auth."user" where email = 'vic@example.com'`)).toEqual([
    { email_verified: true },
  ]);
  const known = await app.asUser({ email: "Wim@example.com", password: "battery staple" });
  expect(await visitor.auth.signIn("wim@example.com", "battery staple")).toEqual(known.user);
});

test("jobs run when they are told to, and time passes when it is told to", async () => {
  const ann = await app.asUser();
  const { id } = await ann.mutate(api.tasks.create, { title: "Later" });
  await ann.mutate(api.tasks.remind, { id, minutes: 30 });
  const priority = async () => (await ann.query(api.tasks.get, { id }))?.priority;
  expect(await app.flushJobs()).toEqual({ ran: 0, failures: [] });
  // Does not count jobs: at three in the morning the nightly cron would run as well.
  await app.passTime("29 minutes");
  await app.flushJobs();
  expect(await priority()).toBe(0);
  await app.passTime(60_000);
  expect((await app.flushJobs()).ran).toBeGreaterThan(0);
  expect(await priority()).toBe(1);
});

test("a visitor writes twenty entries into the guest book, and further ones when time has passed", async () => {
  const visitor = app.anonymous();
  const write = (n: number) => visitor.mutate(api.guestbook.create, { message: `entry ${n}` });
  for (let n = 0; n < 20; n++) await write(n);
  await expect(write(20)).rejects.toMatchObject({ code: "RATE_LIMITED", status: 429 });
  await app.passTime("10 minutes");
  expect(await write(21)).toMatchObject({ message: "entry 21" });
});

test("a workflow waits for days that pass at once", async () => {
  const ann = await app.asUser();
  const { runId } = await ann.mutate(api.expenses.file, { purpose: "A chair", cents: 200_00 });
  const run = () => ann.query(api.workflows.get, { id: runId });
  await app.flushJobs();
  expect(await run()).toMatchObject({ waitMarker: "wait:decision" });
  await app.passTime("2 days");
  await app.flushJobs();
  expect((await run())?.status).toBe("pending");
  await app.passTime("5 days");
  await app.flushJobs();
  expect(await run()).toMatchObject({ status: "completed", result: "expired" });
});

test("a cron runs once when its time has passed, and when somebody wants it to", async () => {
  const ran = async () => (await app.flushJobs()).ran;
  await app.passTime("1 day");
  await ran();
  expect(await ran()).toBe(0);
  await app.passTime("1 day");
  expect(await ran()).toBe(2); // the nightly one and the hourly one
  await app.enqueueCron("tasks.nightly");
  expect(await ran()).toBe(1);
  await expect(app.enqueueCron("tasks.nigthly")).rejects.toThrow('There is no cron "tasks.nigthly".');
});

test("a job that fails fails the test, unless the test is about it", async () => {
  const broken = "select svc_private.enqueue_system_job('tasks.gone', null, null, null, null)";
  await app.sql(broken);
  const failed = app.flushJobs();
  await expect(failed).rejects.toThrow(JobsFailed);
  await expect(failed).rejects.toThrow('tasks.gone: There is no internal procedure "tasks.gone"');
  await app.sql(broken);
  const { failures } = await app.flushJobs({ failures: "return" });
  expect(failures.map(({ name }) => name)).toEqual(["tasks.gone"]);
});

test("seeds run, and a second app knows nothing of the first", async () => {
  await app.seed(seed);
  const ann = await app.asUser("ann@example.com");
  expect((await ann.query(api.tasks.list)).total).toBe(2);

  const other = await createTestApp({ api, cwd, limits: { requestsPerUser: 2 } });
  try {
    await expect(other.asUser("ann@example.com")).rejects.toThrow("There is no user");
    const bob = await other.asUser();
    const asked = Array.from({ length: 3 }, () => bob.query(api.tasks.list, {}, { retries: 0 }));
    await expect(Promise.all(asked)).rejects.toMatchObject({ code: "RATE_LIMITED" });
  } finally {
    await other.close();
  }
  const left = await db.sql("select datname from pg_database where datname like $1", [
    `svc\\_test\\_${process.pid}\\_%`,
  ]);
  expect(left).toHaveLength(1);
});

test("nobody approves an expense of their own by an event", async () => {
  const ann = await app.asUser();
  const { runId } = await ann.mutate(api.expenses.file, { purpose: "A yacht", cents: 9_000_000 });
  const decision = { id: runId, event: "decision", payload: { approved: true, by: "a colleague" } };
  await expect(ann.mutate(api.workflows.signal, decision)).rejects.toMatchObject({ code: "FORBIDDEN" });
  await ann.mutate(api.workflows.signal, { id: runId, event: "kill", payload: null });
});
