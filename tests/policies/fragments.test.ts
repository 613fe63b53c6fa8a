// If this file fails, an application that interpolates input into SQL, which it should not do, discloses all rows
// instead of its own user's. The same attacks as in impersonation.test.ts, from outside: over HTTP, through ctx.db.
import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";

const input = v.object({ text: v.string() });

// Code that should not be written: text from outside, as SQL.
const careless = {
  condition: procedure.mutation
    .name("careless.condition")
    .input(input)
    .handler(async ({ context, input }) => {
      return context.db.select({ title: notes.title }).from(notes).where(sql.raw(input.text));
    }),
  column: procedure.mutation
    .name("careless.column")
    .input(input)
    .handler(async ({ context, input }) => {
      return context.db.select({ value: sql.raw(input.text) }).from(sql`(values (1)) as one`);
    }),
  execute: procedure.mutation
    .name("careless.execute")
    .input(input)
    .handler(async ({ context, input }) => {
      return (context.db.execute as unknown as (query: unknown) => unknown)(sql.raw(input.text));
    }),
  nested: procedure.mutation
    .name("careless.nested")
    .input(input)
    .handler(async ({ context, input }) => {
      return context.db.transaction(async (db) =>
        (db.execute as unknown as (query: unknown) => unknown)(sql.raw(input.text)),
      );
    }),
};

const db = database();
const svc = service(db, apiWith({ procedures: careless }));
let ann: User;
let bob: User;

beforeAll(async () => {
  ann = await svc.signUp("ann");
  bob = await svc.signUp("bob");
  await svc.mutate(bob, "notes.create", { title: "Bob's secret" });
  // A function of the application, with any owner's rights, cannot bypass this either.
  await db.sql(`
    set role svc_owner;
    create function public.become(who text) returns text language plpgsql as
      $$ begin return set_config('svc.user_id', who, true); end $$;
    create function public.become_by_definer(who text) returns text language plpgsql security definer set search_path = '' as
      $$ begin return set_config('svc.user_id', who, true); end $$;
    grant execute on function public.become(text), public.become_by_definer(text) to svc_authenticated;
    reset role;
  `);
});

describe("text that becomes SQL reaches no row of Bob's", () => {
  const attacks = (id: string) => [
    "true",
    "true or user_id is not null",
    `set_config('svc.user_id', '${id}', true) is not null`,
    `public.become('${id}') is not null`,
    `public.become_by_definer('${id}') is not null`,
    `exists (select from pg_settings where set_config('svc.user_id', '${id}', true) = '${id}')`,
    `true; set local svc.user_id = '${id}'; select title from notes`,
    `true; reset role; select title from notes`,
    "set_config('role', 'svc_system', true) is not null",
    "exists (select from pg_read_file('/etc/passwd'))",
    "exists (select from svc_private.applied_migrations)",
  ];
  test.for(attacks("BOB"))("in a condition: %s", async (attack) => {
    const { status, body } = await svc.mutate(ann, "careless.condition", { text: attack.replaceAll("BOB", bob.id) });
    if (status === 200) expect(body.json).toEqual([]);
    else expect(JSON.stringify(body)).not.toContain("secret");
    const { body: still } = await svc.mutate(ann, "careless.column", { text: "svc.current_user_id()" });
    expect(still.json).toEqual([{ value: ann.id }]);
  });

  test("a second statement without parameters is refused by the protocol", async () => {
    const text = `1 as x; set local svc.user_id = '${bob.id}'`;
    const { status, body } = await svc.mutate(ann, "careless.column", { text });
    expect({ status, code: body.code }).toEqual({ status: 500, code: "INTERNAL" });
  });
});

describe("raw SQL through ctx.db", () => {
  test.for(["execute", "nested"])(
    "%s throws, and says what to write instead in the log, and in the hint while developing",
    async (name) => {
      const { status, body } = await svc.mutate(ann, `careless.${name}`, { text: "select 1" });
      const advice = expect.stringContaining("ctx.db: no raw SQL runs here");
      expect({ status, code: body.code, hint: body.hint }).toEqual({ status: 500, code: "INTERNAL", hint: advice });
      await expect.poll(() => svc.logged.filter((line) => line.includes(body.requestId)).join("")).toEqual(advice);
    },
  );
});
