/** What `npm run rehearse:scale` loads: a mutation that writes and schedules, its job, and a list to watch. */
import { createCrudFactory, createSvcProcedureBuilders, defineApi, v } from "@svc/core";
import * as schema from "./schema.ts";

const procedure = createSvcProcedureBuilders<typeof schema>();
const createCrud = createCrudFactory(procedure);
const keyed = v.object({ key: v.string() });

const add = procedure.mutation
  .name("marks.add")
  .input(keyed)
  .handler(async ({ context, input }) => {
    const { user } = context.auth.requireAuth();
    await context.db.insert(schema.marks).values({ key: input.key, userId: user.id });
    await context.scheduler.runAfter(0, "marks.trace", input);
    return input.key;
  });

const trace = procedure.internal
  .name("marks.trace")
  .input(keyed)
  .handler(async ({ context, input }) => {
    const { user } = context.auth.requireAuth();
    await context.db.insert(schema.traces).values({ key: input.key, userId: user.id });
  });

export default defineApi({ procedures: { marks: createCrud(schema.marks), add, trace } });
