// If this file fails, calls that a release's migration kept waiting are answered with 500.
import { beforeAll, beforeEach, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { bearer, service, type User } from "../support/service.ts";

const db = database();
const app = service(db);
let ann: User;
const written = new Map<string, string>();
const functions = ["svc_crud.notes_create", "svc_crud.notes_list"];
beforeAll(async () => {
  ann = await app.signUp("ann");
  for (const name of functions) {
    const [row] = await db.sql("select pg_get_functiondef($1::regproc) as text", [name]);
    written.set(name, String(row?.text));
  }
});
/** As the previous version has written them: with a column that the next one drops. */
beforeEach(async () => {
  await db.sql("alter table public.notes add column old text");
  for (const text of written.values()) {
    await db.sql(text.replace(/\nbegin\n/, "\nbegin\n  perform t.old from public.notes as t limit 0;\n"));
  }
});

const keyed = () =>
  app.fetch("/api/mutation", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID(), ...bearer(ann) },
    body: JSON.stringify({ name: "notes.create", args: { title: "tea" } }),
  });
const batch = (...titles: string[]) =>
  app.fetch("/api/batch", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(ann) },
    body: JSON.stringify({ calls: titles.map((title) => ({ name: "notes.create", args: { title } })) }),
  });

test.for<[string, () => Promise<{ status: number }>]>([
  ["create", () => app.mutate(ann, "notes.create", { title: "tea" })],
  ["create with an idempotency key", keyed],
  ["create in a batch", () => batch("tea")],
  ["several in a batch", () => batch("tea", "milk")],
  ["list", () => app.query(ann, "notes.list", { search: "t" })],
  ["list as it is without options", () => app.query(ann, "notes.list", {})],
])("a call of a generated operation that a migration keeps waiting finds what it has made: %s", async ([, call]) => {
  await call(); // the connection knows the function
  const admin = await db.connect("admin");
  await admin.query("begin; alter table public.notes drop column old");
  for (const text of written.values()) await admin.query(text);
  const calls = [call(), call()];
  const waiting = "select from pg_locks where not granted and relation = 'public.notes'::regclass";
  await expect.poll(async () => (await db.sql(waiting)).length).toBe(2);
  await admin.query("commit");
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
});
