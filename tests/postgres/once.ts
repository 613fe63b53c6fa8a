/** Queries whose handlers count their runs, and fail as on a standby. */
import { sql } from "drizzle-orm";
import { SvcError } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";

/** How often each handler has begun. */
export const begun: Record<string, number> = {};

/** Fails only on a standby, as a recovery conflict does. */
export const onlyPrimary = `
  create function public.only_primary() returns text language plpgsql as $$
  begin
    if pg_is_in_recovery() then raise exception 'conflict with recovery' using errcode = '40001'; end if;
    return 'the primary';
  end $$;
  grant execute on function public.only_primary() to svc_authenticated`;

const once = (name: string) => {
  begun[name] = (begun[name] ?? 0) + 1;
};
const it = sql<string>`public.only_primary()`;

export const procedures = {
  once: {
    fails: procedure.query.name("once.fails").handler(async ({ context }) => {
      once("fails");
      await context.db.$count(notes);
      throw new SvcError("CONFLICT", "its own");
    }),
    breaks: procedure.query.name("once.breaks").handler(() => {
      once("breaks");
      throw new TypeError("a mistake");
    }),
    first: procedure.query.name("once.first").handler(async ({ context }) => {
      once("first");
      return (await context.db.select({ it }).from(notes).limit(1))[0]?.it;
    }),
    together: procedure.query.name("once.together").handler(async ({ context }) => {
      once("together");
      const ask = () => context.db.select({ it }).from(notes).limit(1);
      return (await Promise.all([ask(), ask(), ask()])).map(([row]) => row?.it);
    }),
    separate: procedure.query.name("once.separate").handler(async ({ context }) => {
      once("separate");
      return context.read(async (db) => (await db.select({ it }).from(notes).limit(1))[0]?.it);
    }),
    second: procedure.query.name("once.second").handler(async ({ context }) => {
      once("second");
      await context.db.$count(notes);
      return (await context.db.select({ it }).from(notes).limit(1))[0]?.it;
    }),
  },
};
