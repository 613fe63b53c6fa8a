// If this file fails, callers do not hear why a function of the application refused, or hear what is only for the log.

import { sql } from "drizzle-orm";
import pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { createSvcProcedureBuilders, isConflict, v } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";

const refuse = createSvcProcedureBuilders()
  .mutation.name("spoken.refuse")
  .allowAnonymous()
  .input(v.object({ state: v.string() }))
  .handler(({ context, input }) => context.db.select({ one: sql`1` }).from(sql`public.refuse(${input.state}) as it`));

const db = database();
const app = service(db, apiWith({ procedures: { refuse } }));
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  await db.sql(`create function public.refuse(state text) returns void language plpgsql set search_path = '' as $$
    begin
      if state = 'bare' then raise exception using errcode = 'AP409'; end if;
      raise exception 'Only % are left.', 2 using errcode = state, hint = 'Take fewer.';
    end $$`);
  await db.sql("grant execute on function public.refuse to svc_authenticated, svc_anonymous");
  await db.sql(`create function public.refuse_note() returns trigger language plpgsql set search_path = '' as $$
    begin raise exception 'No note of that name.' using errcode = 'AP403'; end $$`);
  await db.sql(`create trigger refuse_note before insert on public.notes for each row when (new.title = 'refused')
    execute function public.refuse_note()`);
});

test.for([
  ["AP400", 400, "BAD_REQUEST"],
  ["AP401", 401, "UNAUTHORIZED"],
  ["AP403", 403, "FORBIDDEN"],
  ["AP404", 404, "NOT_FOUND"],
  ["AP409", 409, "CONFLICT"],
  ["AP429", 429, "RATE_LIMITED"],
] as const)("%s is answered with %i %s and the words of the function", async ([state, status, code]) => {
  const { requestId: _, ...body } = (await app.mutate(ann, "spoken.refuse", { state })).body;
  expect(body).toEqual({ error: "Only 2 are left.", code, hint: "Take fewer." });
  expect((await app.mutate(ann, "spoken.refuse", { state })).status).toBe(status);
});

test("without words it has those of its code", async () => {
  const { body } = await app.mutate(ann, "spoken.refuse", { state: "bare" });
  expect([body.code, body.error]).toEqual(["CONFLICT", "Someone else changed this at the same time. Try again."]);
});

test.for(["SV409", "SV404", "23505", "42501", "22023", "AP999", "P0001"])(
  "words of %s are only in the log",
  async (state) => {
    expect(JSON.stringify((await app.mutate(ann, "spoken.refuse", { state })).body)).not.toContain("left");
  },
);

test("a trigger refuses in generated operations", async () => {
  const one = await app.mutate(ann, "notes.create", { title: "refused" });
  expect([one.status, one.body.error]).toEqual([403, "No note of that name."]);
  const query = 'mutation { createNote(input: { title: "refused" }) { id } }';
  const answer = await app.fetch("/api/graphql", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${ann.token}` },
    body: JSON.stringify({ query }),
  });
  const { errors } = answer.body as { errors: { message: string; extensions: { code: string } }[] };
  expect(errors.map(({ message, extensions }) => [message, extensions.code])).toEqual([
    ["No note of that name.", "FORBIDDEN"],
  ]);
});

// It was answered with OUTCOME_UNKNOWN, which clients do not repeat.
test("a write that PgBouncer has kept waiting, and not sent, is UNAVAILABLE: its client may repeat it", async () => {
  await db.sql(`create function public.no_connection() returns trigger language plpgsql set search_path = '' as $$
    begin raise exception 'query_wait_timeout' using errcode = '08P01'; end $$`);
  await db.sql(`create trigger no_connection before insert on public.notes for each row when (new.title = 'full')
    execute function public.no_connection()`);
  const { status, body } = await app.mutate(ann, "notes.create", { title: "full" });
  expect([status, body.code]).toEqual([503, "UNAVAILABLE"]);
});

test("isConflict finds a refusal among the causes, and ends where an error is its own cause", () => {
  const refusal = Object.assign(new pg.DatabaseError("duplicate", 0, "error"), { code: "23505", constraint: "one" });
  const wrapped = new Error("saving failed", { cause: new Error("query failed", { cause: refusal }) });
  expect([isConflict(wrapped), isConflict(wrapped, "one"), isConflict(wrapped, "other")]).toEqual([true, true, false]);
  const circle = new Error("in a circle");
  circle.cause = circle;
  expect(isConflict(circle)).toBe(false);
});
