// If this file fails, a schema with a hole is served, and nobody has been told.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { good, mistakenApp } from "./mistaken-app.ts";

const db = database("platform");
const app = mistakenApp(db);

const teams = (write: string) => `
import { memberRls, ownerRls } from "@svc/core";
import { index, pgTable, serial, text } from "drizzle-orm/pg-core";
export const members = pgTable("members",
  { id: serial("id").primaryKey(), team: text("team").notNull(), userId: text("user_id").notNull() },
  (t) => [index().on(t.userId, t.team), ...ownerRls(t.userId${write})]);
export const notes = pgTable("notes",
  { id: serial("id").primaryKey(), team: text("team").notNull(), text: text("text") },
  (t) => [index().on(t.team), ...memberRls({ through: members, team: t.team, user: members.userId })]);`;

test("svc prepare says what the linter has against the migration that it wrote, once", async () => {
  await app.write({ ...good, "backend/schema.ts": teams("") });
  const { code, output } = await app.svc(["prepare"]);
  expect(code).toBe(0);
  expect(output.split("applied sql/search.sql")[1]).toMatchInlineSnapshot(`
    "

    warning  insert_owner on public.members lets users choose team, by which select_member on public.notes decides: they give themselves access.
      Let nobody write public.members in requests, as ownerRls(…, { write: "nobody" }) declares, or check in the condition who may choose team.
      rule: self_granted_access


    warning  update_owner on public.members lets users choose team, by which select_member on public.notes decides: they give themselves access.
      Let nobody write public.members in requests, as ownerRls(…, { write: "nobody" }) declares, or check in the condition who may choose team.
      rule: self_granted_access

    "
  `);
  expect((await app.svc(["prepare"])).output).not.toContain("warning");
  // Of a file of sql/, and of a migration that `svc migrate generate` wrote, too.
  await app.write({
    "sql/count_notes.sql": `create or replace function public.count_notes() returns bigint language sql security definer
      set search_path = '' as $$ select count(*) from public.notes $$; grant execute on function public.count_notes to svc_anonymous;`,
  });
  expect((await app.svc(["prepare"])).output).toContain("rule: definer_function_exposed_to_anyone");

  await app.write({ "backend/schema.ts": teams(', { write: "nobody" }') });
  await app.move();
  const repaired = await app.svc(["prepare"]);
  expect(repaired.output).toContain("applied migrations/0002_change_members.sql");
  expect(repaired.output).not.toContain("warning");
});
