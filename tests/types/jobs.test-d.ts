/** If these fail, a cron accepts procedures that clients may call, or calls can be scheduled that could never run. */
import { describe, expectTypeOf, it } from "vitest";
import {
  type Context,
  createSvc,
  createSvcProcedureBuilders,
  cron,
  defineApi,
  type RequestDatabase,
  v,
} from "../../src/index.ts";
import * as schema from "../fixture/backend/schema.ts";

const procedure = createSvcProcedureBuilders();

describe("a cron", () => {
  it("takes internal procedures alone", () => {
    const digest = procedure.internal.name("a.digest").handler(() => 1);
    const nightly = cron.name("nightly").daily({ hour: 3 }).handler(digest);
    defineApi({ procedures: { digest }, crons: { nightly } });
    const query = procedure.query.name("a.q").handler(() => 1);
    // @ts-expect-error a query is for clients
    expectTypeOf(() => cron.name("x").daily({ hour: 3 }).handler(query));
  });

  it("knows its schedules", () => {
    // @ts-expect-error there is no such unit
    expectTypeOf(() => cron.name("x").interval({ days: 1 }));
    // @ts-expect-error an hour is missing
    expectTypeOf(() => cron.name("x").daily({}));
  });
});

describe("an internal procedure", () => {
  it("runs as the system, and as nobody else", () => {
    procedure.internal.name("a.b").runAs("system");
    // @ts-expect-error only the system
    expectTypeOf(() => procedure.internal.name("a.b").runAs("admin"));
    // @ts-expect-error mutations run as their caller
    expectTypeOf(() => procedure.mutation.name("a.b").runAs("system"));
  });
});

describe("context.scheduler", () => {
  it("gives the job's id and takes times in three forms", () => {
    expectTypeOf<Context["scheduler"]["runAfter"]>().returns.resolves.toBeString();
    expectTypeOf<Context["scheduler"]["runAt"]>().parameter(0).toEqualTypeOf<Date | number | string>();
    expectTypeOf<Context["scheduler"]["cancel"]>().returns.resolves.toBeBoolean();
  });
});

describe("context.scheduler with a procedure", () => {
  const nag = procedure.internal.input(v.object({ id: v.number() })).handler(() => {});
  const digest = procedure.internal.handler(() => {});
  const { scheduler } = {} as Context;

  it("takes the arguments of its .input()", () => {
    expectTypeOf(() => scheduler.runAfter(0, nag, { id: 1 })).returns.resolves.toBeString();
    expectTypeOf(() => scheduler.runAt(new Date(), digest)).returns.resolves.toBeString();
    expectTypeOf(() => scheduler.runAfter(0, "tasks.nag", { id: "any" })).returns.resolves.toBeString();
    // @ts-expect-error the id is a number
    expectTypeOf(() => scheduler.runAfter(0, nag, { id: "1" }));
    // @ts-expect-error it needs an id
    expectTypeOf(() => scheduler.runAt(0, nag));
    // @ts-expect-error it has no input
    expectTypeOf(() => scheduler.runAfter(0, digest, { id: 1 }));
  });

  it("takes internal procedures alone", () => {
    const query = procedure.query.name("a.q").handler(() => 1);
    // @ts-expect-error a query is for clients
    expectTypeOf(() => scheduler.runAfter(0, query));
  });
});

describe("a workflow of createSvc", () => {
  it("takes functions that handlers share, for wf.db has the schema's types", () => {
    const { workflow, procedure } = createSvc({ schema });
    const count = (db: RequestDatabase<typeof schema>) => db.$count(schema.notes);
    const counted = workflow("a.count", {
      args: { at: v.number() },
      handler: (wf) => wf.step("n", () => count(wf.db)),
    });
    procedure.mutation.handler(({ context }) => {
      count(context.db);
      return context.workflows.start(counted, { at: 1 });
    });
    defineApi({ workflows: { counted } });
  });
});
