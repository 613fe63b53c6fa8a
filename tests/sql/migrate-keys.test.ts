// If this file fails, a release opens a table to all API keys that users have, until a service starts the next time.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database("platform");

test("a policy that would open a table to the keys that users have is refused, and nothing of the release stays", async () => {
  const application = await mkdtemp(join(tmpdir(), "svc-app-"));
  onTestFinished(() => rm(application, { recursive: true }));
  const release = async (name: string, text: string) => {
    await mkdir(join(application, "migrations"), { recursive: true });
    await writeFile(join(application, "migrations", name), text);
    return migrate({ adminUrl: db.url("admin"), platform: root, application });
  };
  const table = (name: string, condition: string) =>
    `create table ${name} (user_id text primary key); alter table ${name} enable row level security;
     create policy own on ${name} to svc_authenticated using (${condition});`;
  await release(
    "0001_keys.sql",
    table("tickets", "user_id = (select svc.current_user_id()) and (select svc.has_scope('a'))"),
  );
  await release("0002_diaries.sql", table("diaries", "user_id = (select svc.current_user_id())")); // nobody has a key
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'ann', 'ann@example.com');
    insert into auth.api_key (user_id, name, start, hash, scopes, expires_at)
    values ('ann', 'CI', 'acme_', sha256('x'), '{a}', now() + interval '1 day')`);
  await expect(release("0003_notes.sql", table("notes", "true"))).rejects.toThrow("in public.diaries, public.notes:");
  expect(await db.sql("select to_regclass('notes') as it")).toEqual([{ it: null }]);
});
