// If this file fails, an import changes or adds a row although a policy forbids it, refuses one although the policies allow
// it, or reads a file that they hide from its user.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { stored } from "../support/files.ts";
import type { User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";
import { api } from "./application.ts";
import { type Caller, isGiven, isSignedIn, refusedAs } from "./door.ts";
import { plant, situations, writingSituations } from "./situations.ts";
import { names, world } from "./world.ts";

const made = world();
const { db, running, sql, callers } = made;
const startWorker = workers(db, api);
const copy = "door_copy_of_pages";
/** A row for each scope; even, as rows that are made by SQL. */
const scopes = "select distinct corpus, visibility from pages order by 1, 2";
/** What the names of files say to the policies. */
const oddness = ["even", "odd"] as const;
const files = new Map<string, string>();

beforeAll(async () => {
  const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  await startWorker({ config: { ...config, storage: made.storage } });
  await db.sql(`create table ${copy} as table pages`);
  const labels = await sql.all<{ label: string }>("select label from pages order by id");
  const upserts = ["label,title", ...labels.map(({ label }) => `${label},imported`)].join("\n");
  const rows = (await sql.all<{ corpus: string; visibility: string }>(scopes)).map(
    ({ corpus, visibility }) => `imported,${corpus},${visibility},0`,
  );
  const inserts = ["title,corpus,visibility,rank", ...rows].join("\n");
  for (const { name, user } of callers.filter(isSignedIn)) {
    for (const odd of oddness) {
      for (const [kind, text] of Object.entries({ upserts, inserts })) {
        const id = await stored(running, user, new File([text], `open private ${odd}`, { type: "text/csv" }));
        files.set(`${name} ${kind} ${odd}`, id);
      }
    }
  }
});

/** @returns the rows that the caller's import has written; null if the file was refused */
async function imported(caller: Caller, resource: string, args: { storageId: string }) {
  const answer = await running.mutate(caller.user, `${resource}.import`, { format: "csv", ...args });
  if (!isGiven(answer)) return null;
  const ended = "select status from svc.workflow_runs where id = $1 and status in ('completed', 'failed')";
  await until(async () => (await sql.all(ended, [answer.body.json.id])).length > 0);
  return sql.all<{ id: string; user_id: string; scope: string }>(
    "select id::text, user_id, corpus || ' ' || visibility as scope from pages where title = 'imported' order by 3, 1",
  );
}

/** Removes what an import has written. */
async function restore(): Promise<void> {
  await db.sql("delete from pages where title = 'imported' and id not in (select id from door_copy_of_pages)");
  await db.sql(`update pages as p set title = c.title from ${copy} as c where c.id = p.id and p.title <> c.title`);
}
const others = (ids: string[]) =>
  sql.all("select p::text from pages as p where id::text <> all ($1) order by id", [ids]);

const chosen = ["the platform's policies alone", "odd rows are hidden", "everything is shown", "nothing is shown"];

describe.for([...situations.filter(({ name }) => chosen.includes(name)), ...writingSituations])(
  "where $name",
  (situation) => {
    beforeAll(() => plant(db, situation));

    test.for(names)("an import by upsert of the %s changes what the policies let them change", async (name) => {
      const caller = callers.find((one) => one.name === name) as Caller;
      for (const odd of oddness) {
        const storageId = files.get(`${name} upserts ${odd}`) as string;
        const mayRead = await sql.shown(caller, "select id::text from svc.storage_objects where id = $1", [storageId]);
        const may = await sql.shown(
          caller,
          "with u as (update pages set title = title returning id) select id::text from u",
        );
        const before = await others(may);
        const args = { storageId, mode: "upsert", by: "label" };
        const written = await imported(caller, "labelled", args);
        expect(written?.map(({ id }) => id).sort()).toEqual(mayRead.length > 0 ? may : undefined);
        expect(await others(may)).toEqual(before);
        await restore();
      }
    });

    test.for(names)("an import of the %s adds what the policies let them add", async (name) => {
      const caller = callers.find((one) => one.name === name) as Caller & { user: User };
      const may: string[] = [];
      for (const { corpus, visibility } of await sql.all<{ corpus: string; visibility: string }>(scopes)) {
        const asRow = `insert into pages (user_id, title, corpus, visibility)
          values (svc.current_user_id(), 'made', $1, $2) returning id`;
        const made = await sql.query(caller, asRow, [corpus, visibility]).catch(refusedAs([]));
        if (made.length > 0) may.push(`${corpus} ${visibility}`);
      }
      const storageId = files.get(`${name} inserts even`) as string;
      const mayRead = await sql.shown(caller, "select id::text from svc.storage_objects where id = $1", [storageId]);
      const written = await imported(caller, "pages", { storageId });
      expect(written?.map(({ scope }) => scope)).toEqual(mayRead.length > 0 ? may : undefined);
      for (const { user_id } of written ?? []) expect(user_id).toBe(caller.user.id);
      await restore();
    });
  },
);

test("an import by nobody, or of another's file, writes nothing", async () => {
  await plant(db, { name: "", policies: [] });
  const storageId = files.get("owner inserts even") as string;
  for (const caller of [callers[0] as Caller, callers[2] as Caller]) {
    expect(await imported(caller, "pages", { storageId })).toBe(null);
  }
  expect(await sql.all("select from pages where title = 'imported'")).toEqual([]);
});
