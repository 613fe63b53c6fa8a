// If this file fails, a file is served for more than a second after it was deleted, made private or hidden by a policy; or
// a picture in demand costs a question for each request.
import { beforeAll, expect, test } from "vitest";
import type { FoundObject } from "../../src/storage/find-objects.ts";
import { PublicObjects } from "../../src/storage/public-objects.ts";
import { database } from "../support/database.ts";
import { bytesFolder, fileProcedures, stored } from "../support/files.ts";
import { fc } from "../support/properties.ts";
import { apiWith, service, type User } from "../support/service.ts";

const db = database();
const storage = { driver: "disk", dir: bytesFolder() } as const;
const api = apiWith({ procedures: fileProcedures });
/** Serves the files, and hears nothing of what the other one changes. */
const serving = service(db, api, { storage });
const changing = service(db, api, { storage });
let ann: User;

beforeAll(async () => {
  ann = await changing.signUp("ann");
});

const publicFile = () =>
  stored(changing, ann, new File(["0123456789"], "open.txt", { type: "text/plain" }), { visibility: "public" });
const statusOf = async (id: string) => (await serving.fetch(`/api/storage/${id}`)).status;

const changes: [string, (id: string) => Promise<unknown>][] = [
  ["deleted by a call of another process", (id) => changing.mutate(ann, "files.remove", { id })],
  [
    "made private by another process",
    (id) => changing.mutate(ann, "files.setVisibility", { id, visibility: "private" }),
  ],
  ["deleted by SQL", (id) => db.sql("delete from svc.storage_objects where id = $1", [id])],
  [
    "hidden by a new policy",
    (id) =>
      db.sql(`create policy app_hidden on svc.storage_objects as restrictive for select
                to svc_anonymous, svc_authenticated using (id <> '${id}')`),
  ],
  [
    "hidden by a row of another table that a policy reads",
    async (id) => {
      await db.sql("insert into hidden_files values ($1)", [id]);
    },
  ],
  [
    "made private while no connection is left",
    async (id) => {
      await db.sql("update svc.storage_objects set visibility = 'private' where id = $1", [id]);
      await db.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()",
      );
    },
  ],
];

test.for(changes)("a public file that is %s is refused soon, and from then on", async ([_title, change]) => {
  await db.sql(`create table if not exists hidden_files (id uuid); grant select on hidden_files to public;
    drop policy if exists app_hidden on svc.storage_objects;
    drop policy if exists app_by_table on svc.storage_objects;
    create policy app_by_table on svc.storage_objects as restrictive for select to svc_anonymous, svc_authenticated
      using (not exists (select from public.hidden_files h where h.id = storage_objects.id))`);
  const id = await publicFile();
  for (let times = 0; times < 20; times++) expect(await statusOf(id)).toBe(200);
  await change(id);
  await expect.poll(() => statusOf(id)).toBe(404);
  for (let times = 0; times < 20; times++) expect(await statusOf(id)).toBe(404);
});

test("a file that the same process deletes or makes private is refused at once", async () => {
  for (const [name, args] of [
    ["files.remove", {}],
    ["files.setVisibility", { visibility: "private" }],
  ] as const) {
    const id = await publicFile();
    expect(await statusOf(id)).toBe(200);
    const ids = [id.toUpperCase(), id];
    for (const one of ids) expect(await statusOf(one)).toBe(200);
    const there = { ...ann, token: ann.sessionToken };
    expect((await serving.mutate(there, name, { id: id.toUpperCase(), ...args })).status).toBe(200);
    for (const one of ids) expect(await statusOf(one)).toBe(404);
  }
});

const objectOf = (id: string, visibility: "public" | "private"): FoundObject => ({
  ...{ id, visibility, name: "x", size: 1, type: "text/plain" },
  ...{ bytesId: id, sha256: "0".repeat(64) },
});

type Event = "ask" | "answer" | "publish" | "revoke" | number;

test("what is served was public within the last second, whatever happens when", async () => {
  const event = fc.constantFrom<Event>("ask", "ask", "ask", "answer", "answer", "publish", "revoke", 100, 400, 700);
  const events = fc.array(event, { minLength: 6, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(events, async (all) => {
      let now = 5_000;
      let isPublic = true;
      let publicUntil = now;
      const open: (() => void)[] = [];
      const objects = new PublicObjects(
        {
          find: (id) => {
            // PostgreSQL reads at some time after the question; its answer arrives later.
            const { promise, resolve } = Promise.withResolvers<FoundObject | null>();
            const found = isPublic ? objectOf(id, "public") : null;
            open.push(() => resolve(found));
            return promise;
          },
        },
        () => now,
      );
      for (const event of all) {
        if (event === "publish" || event === "revoke") isPublic = event === "publish";
        else if (event === "answer") {
          open.shift()?.();
          await new Promise(setImmediate);
        } else if (event === "ask") {
          const found = objects.find("a");
          if (!(found instanceof Promise)) expect(publicUntil).toBeGreaterThan(now - 1_000);
        } else now += event;
        if (isPublic) publicUntil = now;
      }
    }),
    { numRuns: 2_000 },
  );
});

test("an object in demand costs one question a second, a private or missing one each time", async () => {
  let now = 0;
  let asked = 0;
  const answers: Record<string, FoundObject | null> = {
    a: objectOf("a", "public"),
    b: objectOf("b", "private"),
    c: null,
  };
  const find = async (id: string) => {
    asked++;
    return answers[id] ?? null;
  };
  const objects = new PublicObjects({ find }, () => now);
  for (; now < 10_000; now += 10) expect(await objects.find("a")).toBe(answers.a);
  expect(asked).toBe(10);
  for (const id of ["b", "c", "b", "c"]) expect(await objects.find(id)).toBe(answers[id]);
  expect(asked).toBe(14);
});

test("after the second nothing is served without the database", async () => {
  let now = 0;
  let isThere = true;
  const find = async (id: string) => {
    if (!isThere) throw new Error("no connection");
    return objectOf(id, "public");
  };
  const objects = new PublicObjects({ find }, () => now);
  await objects.find("a");
  isThere = false;
  now = 999;
  expect(objects.find("a")).toMatchObject({ id: "a" });
  now = 1_000;
  await expect(objects.find("a")).rejects.toThrow("no connection");
});

test("an answer that was on its way during a change of this process is not kept", async () => {
  const open: ((found: FoundObject) => void)[] = [];
  const objects = new PublicObjects({ find: () => new Promise((resolve) => open.push(resolve)) }, () => 0);
  const first = objects.find("a");
  objects.forget("A");
  open[0]?.(objectOf("a", "public"));
  expect(await first).toMatchObject({ id: "a" });
  expect(objects.find("a")).toBeInstanceOf(Promise);
});

test("ten thousand objects are kept at most, the latest", async () => {
  const objects = new PublicObjects({ find: async (id) => objectOf(id, "public") }, () => 0);
  for (let number = 0; number <= 10_000; number++) await objects.find(String(number));
  expect(objects.find("0")).toBeInstanceOf(Promise);
  expect(objects.find("10000")).not.toBeInstanceOf(Promise);
});
