/** Studio's page in a browser, over a database in which each panel has something to show. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { openBrowser } from "../browser/desk-app.ts";
import { type Database, database } from "../support/database.ts";
import { studio, type TestStudio } from "./test-studio.ts";

/** A failed run of a workflow. */
export const run = "00000000-0000-4000-8000-000000000001";

/** Prepares the file's tests. Fails them if the page or Studio had an error that they did not expect. */
export function studioInBrowser() {
  const db = database();
  const opened = studio(db);
  const complaints: string[] = [];
  let browser: Browser;

  beforeAll(async () => {
    browser = await openBrowser();
    await fill(db);
    look(opened);
  });
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(() => expect(opened.failures).toEqual([]));

  /** A tab that has redeemed the newest address. */
  async function tab(search = "", scheme: "light" | "dark" = "light"): Promise<Page> {
    const context = await browser.newContext({
      locale: "en-GB",
      colorScheme: scheme,
      viewport: { width: 1200, height: 800 },
    });
    const page = await context.newPage();
    page.on("pageerror", ({ message }) => complaints.push(message));
    page.on("console", (message) => {
      if (/Content Security Policy|TrustedHTML/i.test(message.text())) complaints.push(message.text());
    });
    await page.goto(`${opened.origin}/${search}#${opened.token}`);
    await page.locator("h1").waitFor();
    return page;
  }

  /** Waits until nothing is loading. */
  const settled = (page: Page) => expect.poll(() => page.locator("[aria-busy]").count()).toBe(0);
  const newContext = () => browser.newContext();
  return { db, opened, complaints, tab, settled, newContext };
}

async function fill(db: Database): Promise<void> {
  await db.sql(`insert into auth."user" (id, name, email) values
    ('ann', 'Ann', 'ann@example.com'), ('ben', 'Ben', 'ben@example.com')`);
  await db.sql(`set role svc_owner;
    select svc_private.install_history('[{"table": "public.notes", "keys": ["id"], "omit": ["priority"]}]');
    select svc_private.install_webhooks('${JSON.stringify([noteDone])}'); reset role`);
  await db.sql(`insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body, state, attempts, last_status, last_error, ended_at)
    values ('note.done', 'env', 'DONE_HOOK', 'public.notes [1]', '{}', 'dead', 11, 500, 'The receiver answered 500. <b>', now()),
           ('note.done', '"public"."notes"', '1', 'public.notes [2]', '{}', 'pending', 1, null, 'connect ECONNREFUSED', null)`);
  await db.sql(`insert into notes (user_id, title) select case when i % 2 = 0 then 'ann' else 'ben' end, 'note ' || i
    from generate_series(1, 120) i`);
  await db.sql("insert into notes (id, user_id, title) values (500, 'ann', $1)", [
    `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`,
  ]);
  await db.sql("insert into notes (id, user_id, title) values (501, 'ann', repeat('long ', 200) || 'end')");
  await db.sql(`select graphile_worker.add_job('procedure', '{"procedure":"notes.sweep"}'::json, max_attempts => 1)`);
  await db.sql("update graphile_worker._private_jobs set attempts = 1, last_error = 'out of paper'");
  await db.sql(`insert into auth.session (id, user_id, token, expires_at, user_agent)
    values ('s', 'ann', 't', now() + interval '1 day', '<b>browser</b>')`);
  await db.sql(`insert into auth.api_key (id, user_id, name, start, hash, scopes, expires_at)
    select 'k' || n, 'ben', '<b>key</b> ' || n, 'acme_live_' || n, sha256(n::text::bytea), '{notes:read}', now() + interval '1 day'
      from generate_series(1, 60) n`);
  await db.sql(
    "insert into svc.organizations (id, name) select 'o' || n, '<i>Acme</i> ' || n from generate_series(1, 60) n",
  );
  await db.sql(
    `insert into svc.organization_members (org_id, user_id, role) values ('o1', 'ann', 'owner'), ('o1', 'ben', 'admin')`,
  );
  await db.sql(`insert into svc.organization_invitations (org_id, email, role, invited_by)
    values ('o1', 'guest@example.com', 'member', 'ann')`);
  await db.sql(`insert into svc.workflow_runs (id, name, version, args, status, user_id, error)
    values ('${run}', 'send', 1, '{}', 'failed', 'ann', '{"code":"INTERNAL","message":"no mail"}')`);
  await db.sql(`insert into svc.workflow_steps (run_id, position, kind, name, is_done, error, attempts, finished_at)
    values ('${run}', '1', 'step', 'render', true, null, 1, now()), ('${run}', '2', 'step', 'mail', true, '{}', 3, now())`);
  await db.sql(`insert into svc_private.crons (name, schedule, anchor, last_slot)
    values ('notes.nightly', '0 3 * * *', now(), now())`);
}

const noteDone = {
  name: "note.done",
  table: '"public"."notes"',
  key: ["id"],
  columns: ["title"],
  data: "t.title",
  when: ["update"],
  filter: { done: "true" },
  env: "DONE_HOOK",
};

/** What the commands answer, and what `svc dev` has seen. */
function look(opened: TestStudio): void {
  opened.commands["crons list"] = [{ name: "notes.nightly", schedule: "0 3 * * *", procedure: "notes.sweep" }];
  const span = { traceId: "t1", began: Date.now(), ms: 5, failed: null, attributes: {} };
  const http = { "http.response.status_code": 200, "svc.request_id": "r1", "svc.operation": "notes.create" };
  const db1 = { "db.system.name": "postgresql", "db.query.text": "insert into notes <b>" };
  const call = { ...span, spanId: "1", parentId: null, name: "POST notes.create", kind: "server" } as const;
  const query = { ...span, spanId: "2", parentId: "1", name: "insert notes", kind: "client" } as const;
  opened.observations.take({ span: { ...query, began: span.began + 1, ms: 3, attributes: db1 } });
  opened.observations.take({ span: { ...call, attributes: http } });
  opened.observations.take({
    mail: {
      kind: "verification",
      email: "ann@example.com",
      url: "http://localhost/verify",
      at: new Date().toISOString(),
    },
  });
  opened.commands["db lint"] = [
    { rule: "missing_index", object: "public.notes", level: "advice", bytes: 5, more: null },
  ];
  opened.commands.doctor = {
    findings: [
      { kind: "ok", text: "Node 24" },
      { kind: "wrong", text: "The disk is full.\n  Make room." },
      { kind: "advice", text: "AUTHLIB_URL is not set." },
    ],
  };
  const args = {
    type: "object",
    required: ["title"],
    properties: { title: { type: "string" }, priority: { type: "integer" }, done: { type: "boolean" }, tags: {} },
  };
  const content = { "application/json": { schema: { properties: { args } } } };
  opened.commands.openapi = {
    paths: { "/api/mutation/notes.create": { post: { summary: "Make a note", requestBody: { content } } } },
    components: { schemas: {} },
  };
  const title = "<img src=x onerror=\"document.title='owned'\">";
  opened.commands[`dry-run notes.create --as=ann --input=${JSON.stringify({ title, priority: 2 })}`] = {
    status: 200,
    answer: { json: { id: 1, title } },
    rows: [{ table: "public.notes", inserted: 1, updated: 0, deleted: 0, followed: true }],
    jobs: [{ name: "notes.sweep", due: new Date().toISOString() }],
    messages: [{ invalidate: "notes.list" }],
    refused: ["fetch POST http://mail.example/<b>"],
  };
  opened.commands["migrate status"] = [
    { path: "application/migrations/0002_add.sql", state: "pending", appliedAt: null },
    { path: "application/migrations/0001_init.sql", state: "applied", appliedAt: "2026-01-01T00:00:00.000Z" },
  ];
}
