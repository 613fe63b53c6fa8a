// If this file fails, GraphQL requests that a release's migration overtakes are answered with 500, some until their
// connection is closed.
import { beforeAll, beforeEach, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { asker } from "./support.ts";

const db = database();
const app = service(db);
const ask = asker(app);
let ann: User;
const written = new Map<string, string>();
const functions = ["svc_crud.notes_create", "svc_crud.notes_list"];
beforeAll(async () => {
  ann = await app.signUp("ann");
  for (const name of functions) {
    const [row] = await db.sql("select pg_get_functiondef($1::regproc) as text", [name]);
    written.set(name, String(row?.text));
  }
  await ask(ann, 'mutation { createNote(input: { title: "tea" }) { id } }');
});
/** As the previous version has written them: with a column that the next one drops. */
beforeEach(async () => {
  await db.sql("alter table public.notes add column if not exists old text, alter title type text");
  for (const text of written.values()) {
    await db.sql(text.replace(/\nbegin\n/, "\nbegin\n  perform t.old from public.notes as t limit 0;\n"));
  }
});

const create = (alias: string) => `${alias}: createNote(input: { title: "tea" }) { title }`;
const documents: [string, string][] = [
  ["a plain list", "{ notes(first: 5) { nodes { title } } }"],
  ["a list by a plan", "{ notes(first: 5) { edges { node { title } } } }"],
  ["a plain mutation", `mutation { ${create("a")} }`],
  ["mutations by a plan", `mutation { ${create("a")} ${create("b")} }`],
];

test.for(documents)("a request that a migration keeps waiting finds what it has made: %s", async ([, document]) => {
  await ask(ann, document); // the connection knows its statements
  const admin = await db.connect("admin");
  await admin.query(
    "begin; alter table public.notes drop column old; alter table public.notes alter title type varchar",
  );
  for (const text of written.values()) await admin.query(text);
  const requests = [ask(ann, document), ask(ann, document)];
  const waiting = "select from pg_locks where not granted and relation = 'public.notes'::regclass";
  await expect.poll(async () => (await db.sql(waiting)).length).toBe(2);
  await admin.query("commit");
  expect((await Promise.all(requests)).map(({ errors }) => errors)).toEqual([[], []]);
});

test.for(documents)("a request finds a column's new type on every connection: %s", async ([, document]) => {
  // So that each connection has prepared the statement: more of them than times that a request is carried out.
  await Promise.all(Array.from({ length: 12 }, () => ask(ann, document)));
  for (const type of ["varchar", "text"]) {
    await db.sql(`alter table public.notes alter title type ${type}`);
    for (let request = 0; request < 5; request++) expect((await ask(ann, document)).errors).toEqual([]);
  }
});
