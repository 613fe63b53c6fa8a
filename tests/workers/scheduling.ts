/** The jobs of scheduler.test.ts, and the mutations that schedule them in every way. */
import { eq } from "drizzle-orm";
import { z } from "zod";
import { SvcError } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";

/** Values that the jobs recorded, in the order of their runs. */
export const seen: unknown[] = [];
export const shifted: Date[] = [];
export const wrapped: string[] = [];
const note = procedure.internal
  .name("jobs.note")
  .input(z.object({ title: z.string() }))
  .handler(async ({ context, input }) => {
    const session = context.auth.getSession();
    seen.push({ title: input.title, user: session?.user.email ?? null });
    await context.db.insert(notes).values({ title: input.title, userId: session?.user.id ?? "nobody" });
  });

/** `defineApi` names it by its place. */
const placed = procedure.internal.input(z.object({ title: z.string() })).handler(({ input }) => {
  seen.push({ placed: input.title });
});
const unregistered = procedure.internal.name("jobs.nots").handler(() => {});

const visible = async (context: { db: { select(): { from(table: typeof notes): PromiseLike<unknown[]> } } }) =>
  (await context.db.select().from(notes)).length;

export const scheduling = {
  note,
  placed,
  runDefinition: procedure.mutation
    .name("jobs.runDefinition")
    .input(z.object({ title: z.string(), which: z.enum(["placed", "unregistered"]).optional() }))
    .handler(async ({ context: { scheduler }, input: { title, which } }) => {
      if (which === "unregistered") return scheduler.runAfter(0, unregistered);
      return which === "placed" ? scheduler.runAfter(0, placed, { title }) : scheduler.runAt(0, note, { title });
    }),
  count: procedure.internal.name("jobs.count").handler(async ({ context }) => {
    seen.push({ counted: await visible(context) });
  }),
  who: procedure.internal.name("jobs.who").handler(({ context }) => {
    seen.push({ session: context.auth.getSession() });
  }),
  pose: procedure.internal
    .name("jobs.pose")
    .input(z.object({ id: z.string() }))
    .handler(async ({ context, input }) => {
      await Promise.resolve()
        .then(() => Object.assign(context.auth.requireAuth().user, input))
        .catch(() => {});
      seen.push({ posed: await context.read(async (db) => (await db.select().from(notes)).length) });
    }),
  shift: procedure.internal
    .name("jobs.shift")
    .input(z.object({ at: z.iso.datetime().transform((at) => new Date(at)) }))
    .handler(({ input }) => {
      shifted.push(input.at);
    }),
  wrapped: procedure.internal
    .name("jobs.wrapped")
    .use(({ input, next }) => next({ input: { title: input } }))
    .input(z.object({ title: z.string() }))
    .handler(({ input }) => {
      wrapped.push(input.title);
    }),
  countAll: procedure.internal
    .name("jobs.countAll")
    .runAs("system")
    .handler(async ({ context }) => {
      seen.push({ countedAll: await visible(context), session: context.auth.getSession() });
    }),
  run: procedure.mutation
    .name("jobs.run")
    .allowAnonymous()
    .input(z.object({ name: z.string().nullable(), args: z.unknown().optional(), delay: z.number().optional() }))
    .handler(async ({ context, input }) => ({
      id: await context.scheduler.runAfter(input.delay ?? 0, input.name as string, input.args),
    })),
  runAt: procedure.mutation
    .name("jobs.runAt")
    .input(z.object({ at: z.unknown() }))
    .handler(async ({ context, input }) => ({
      id: await context.scheduler.runAt(input.at as string, "jobs.note", { title: "at" }),
    })),
  cancel: procedure.mutation
    .name("jobs.cancel")
    .allowAnonymous()
    .input(z.object({ id: z.string() }))
    .handler(({ context, input }) => context.scheduler.cancel(input.id)),
  abort: procedure.mutation
    .name("jobs.abort")
    .input(z.object({ at: z.enum(["row", "job", "message", "nowhere"]) }))
    .handler(async ({ context, input }) => {
      const { user } = context.auth.requireAuth();
      const stop = (at: string) => {
        if (at === input.at) throw new SvcError("CONFLICT", "stopped");
      };
      await context.db.insert(notes).values({ title: "abort", userId: user.id });
      stop("row");
      await context.scheduler.runAfter(3_600_000, "jobs.note", { title: "abort" });
      stop("job");
      context.realtime.invalidate("notes.list");
      stop("message");
    }),
  forget: procedure.mutation.name("jobs.forget").handler(({ context }) => {
    void context.scheduler.runAfter(3_600_000, "jobs.note", { title: "not awaited" });
  }),
  forgetWrong: procedure.mutation.name("jobs.forgetWrong").handler(async ({ context }) => {
    await context.db.insert(notes).values({ title: "forgotten", userId: context.auth.requireAuth().user.id });
    void context.scheduler.runAfter(0, "jobs.note", { title: () => "a function" });
  }),
  query: procedure.query.name("jobs.query").handler(async ({ context }) => {
    await context.scheduler.runAfter(0, "jobs.note", { title: "from a query" });
  }),
  nested: procedure.mutation.name("jobs.nested").handler(async ({ context }) => {
    await context.db
      .transaction(async (inner) => {
        await context.scheduler.runAfter(3_600_000, "jobs.note", { title: "undone" });
        await inner.insert(notes).values({ title: "undone", userId: "somebody else" });
      })
      .catch(() => {});
    // The role must be the caller's again, and the transaction still usable.
    return (await context.db.select().from(notes).where(eq(notes.title, "undone"))).length;
  }),
  parallel: procedure.mutation.name("jobs.parallel").handler(async ({ context }) => {
    const { user } = context.auth.requireAuth();
    const work = Array.from({ length: 20 }, (_, index) => [
      context.db.insert(notes).values({ title: `parallel ${index}`, userId: user.id }),
      context.scheduler.runAfter(3_600_000, "jobs.note", { title: `parallel ${index}` }),
    ]);
    await Promise.all(work.flat());
  }),
};
