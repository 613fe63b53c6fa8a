// If this file fails, a mutation rolls back although its handler caught the error of a job that could not be scheduled;
// or one that did not notice the error commits without the job.
import { beforeAll, describe, expect, test } from "vitest";
import type { Context } from "../../src/contract/context.ts";
import { v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { jobs } from "../support/worker.ts";

/** How a handler treats the failure, and whether its own row stays. */
const handlers: Record<string, { stays: boolean; run: (context: Context, fail: () => Promise<unknown>) => unknown }> = {
  "awaits and catches": { stays: true, run: (_, fail) => (async () => await fail())().catch(() => {}) },
  "catches by the promise": { stays: true, run: (_, fail) => fail().catch(() => {}) },
  "catches at the end of a chain": {
    stays: true,
    run: (_, fail) =>
      fail()
        .then((id) => id)
        .catch(() => {}),
  },
  "settles several": { stays: true, run: (_, fail) => Promise.allSettled([fail(), fail(), fail()]) },
  "catches, and goes on to schedule": {
    stays: true,
    run: async (context, fail) => {
      await fail().catch(() => {});
      await context.scheduler.runAfter(3_600_000, "caught.job", { title: "another" });
    },
  },
  "schedules others at the same time": {
    stays: true,
    run: (context, fail) =>
      Promise.allSettled([
        context.scheduler.runAfter(3_600_000, "caught.job", { title: "another" }),
        fail(),
        context.scheduler.runAfter(3_600_000, "caught.job", { title: "another" }),
      ]).then(([before, failed, after]) => {
        if (before?.status !== "fulfilled" || after?.status !== "fulfilled" || failed?.status !== "rejected") {
          throw new Error("only the one in the middle fails");
        }
      }),
  },
  "does not await": { stays: false, run: (_, fail) => void fail() },
  "awaits and does not catch": { stays: false, run: (_, fail) => fail() },
  "hides it in its result": { stays: false, run: (_, fail) => ({ job: fail() }) },
};

/** One failure before any statement, and one by the database. */
const failures: Record<string, (context: Context) => Promise<unknown>> = {
  "a name that is no procedure's": ({ scheduler }) => scheduler.runAfter(0, "caught.missing"),
  "arguments that .input() refuses": ({ scheduler }) => scheduler.runAfter(0, "caught.job", { title: 7 }),
  "an error of the database": ({ scheduler }) => scheduler.runAfter(0, "caught.job", { title: "refused" }),
  "an error of the database at a cancellation": ({ scheduler }) => scheduler.cancel("999999999"),
};

const job = procedure.internal
  .name("caught.job")
  .input(v.object({ title: v.string() }))
  .handler(() => {});
const run = procedure.mutation
  .name("caught.run")
  .input(v.object({ handler: v.string(), failure: v.string(), title: v.string() }))
  .handler(async ({ context, input }) => {
    await context.db
      .insert(notes)
      .values({ userId: context.auth.requireAuth().user.id, title: `${input.title} before` });
    await handlers[input.handler]?.run(
      context as Context,
      () => failures[input.failure]?.(context as Context) as never,
    );
    await context.db
      .insert(notes)
      .values({ userId: context.auth.requireAuth().user.id, title: `${input.title} after` });
    return "done";
  });

const db = database();
const app = service(db, apiWith({ procedures: { caught: { job, run } } }));
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  await db.sql(`
    create function public.refuse_job() returns trigger language plpgsql as $$
    begin
      if new.payload::text like '%refused%' then raise exception 'this job is refused'; end if;
      return new;
    end $$;
    create trigger refuse before insert on graphile_worker._private_jobs for each row execute function public.refuse_job();
    -- A failure at a cancellation, which finds no job there.
    alter function svc.cancel_job(bigint) rename to cancel_job_kept;
    create function svc.cancel_job(id bigint) returns boolean language plpgsql as $$
    begin raise exception 'refused'; end $$;
    grant execute on function svc.cancel_job(bigint) to svc_request`);
});

const cases = Object.keys(failures).flatMap((failure) =>
  Object.keys(handlers).map((handler) => ({ handler, failure })),
);

describe("a handler that", () => {
  test.for(cases)("$handler, of $failure", async ({ handler, failure }) => {
    const title = `${handler}, ${failure}`;
    const { status } = await app.mutate(ann, "caught.run", { handler, failure, title });
    const left = await db.sql("select title from public.notes where title like $1 order by id", [`${title}%`]);
    const stays = handlers[handler]?.stays;
    expect(left.map((row) => row.title)).toEqual(stays ? [`${title} before`, `${title} after`] : []);
    expect(status === 200).toBe(stays);
  });

  test("catches a failure leaves the jobs that did not fail, once each", async () => {
    const titles = (await jobs(db)).map(({ payload }) => (payload.args as { title: string }).title);
    const scheduled = Object.keys(failures).length * 3; // one by one handler, two by another
    expect(titles).toEqual(Array.from({ length: scheduled }, () => "another"));
  });
});
