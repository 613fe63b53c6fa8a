// If this file fails, two statements that handlers prepare under one name, or under a name of svc, refuse each other by chance: it
// depends on which connections they have run.
import { asc } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";

const long = "a name that is longer than the 63 bytes that PostgreSQL keeps of it, ";
const prepared = (name: string, first: string, second: string) =>
  procedure.query
    .name(name)
    .handler(async ({ context: { db } }) => [
      await db.select({ id: notes.id }).from(notes).orderBy(asc(notes.id)).prepare(first).execute(),
      await db.select({ title: notes.title }).from(notes).orderBy(asc(notes.id)).prepare(second).execute(),
    ]);
const db = database();
const procedures = {
  same: prepared("same", "mine", "mine"),
  ours: prepared("ours", "svc_enter", "svc 1 svc_authenticated"),
  cut: prepared("cut", `${long}1`, `${long}2`),
};
const svc = service(db, apiWith({ procedures }), { pool: { request: 1 } });
let ann: User;
beforeAll(async () => {
  ann = await svc.signUp("ann");
  await svc.mutate(ann, "notes.create", { title: "one" });
});

test.each(Object.keys(procedures))("statements of handlers may have any names: %s", async (name) => {
  for (let turn = 0; turn < 4; turn++) {
    const { status, body } = await svc.query(ann, name);
    expect([status, body.json]).toEqual([200, [[{ id: expect.any(Number) }], [{ title: "one" }]]]);
  }
});
