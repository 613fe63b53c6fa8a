/**
 * Expenses: a workflow per expense, which decides on small sums by itself and waits days for a colleague on others. No
 * process is held meanwhile, and its timeline is on the page of the user who filed it.
 */
import cluster from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";
import { SvcError, v, type WorkflowContext, workflow } from "@svc/core";
import { eq, sql } from "drizzle-orm";
import { createCrud, procedure } from "./runtime.ts";
import { expenses } from "./schema.ts";

/** In cents: up to here nobody is asked. */
const small = 50_00;

export const expensesCrud = createCrud(expenses, { methods: ["list"], allowedFilters: ["status", "userId"] });

interface Decision {
  approved: boolean;
  by: string;
}

/** Acts as the user who filed the expense; a colleague's decision arrives as an event. */
export const approve = workflow("expenses.approve", {
  // From the page of the user who filed it. A decision comes from a colleague, so it is not here.
  clients: { signal: ["kill"] },
  args: { id: v.number(), cents: v.number() },
  handler: async (wf, { id, cents }) => {
    if (cents <= small) return settle(wf, id, "approved", "the rule for small sums");
    let decision = await wf.waitForEvent<Decision>("decision", "2 days");
    if (!decision) {
      await wf.step("remind the colleagues", () => touch(wf, id));
      decision = await wf.waitForEvent<Decision>("decision", "5 days");
    }
    if (!decision) return settle(wf, id, "expired", null);
    return settle(wf, id, decision.approved ? "approved" : "refused", decision.by);
  },
});

/** The row and the checkpoint are one transaction; the payment, elsewhere, gets a key that makes a second try harmless. */
async function settle(wf: WorkflowContext, id: number, status: "approved" | "refused" | "expired", by: string | null) {
  await wf.step("write the decision down", () =>
    wf.db.update(expenses).set({ status, decidedBy: by, updatedAt: new Date() }).where(eq(expenses.id, id)),
  );
  if (status === "approved") {
    const began = await wf.step("begin to pay", () => process.pid);
    await wf.step("pay", () => pay(wf, id, began));
  }
  return status;
}

/**
 * Takes four seconds on the start page of `npm start`, where somebody may kill the process meanwhile. The process that
 * continues pays at once. @returns its id
 */
async function pay(wf: WorkflowContext, id: number, began: number): Promise<number> {
  const kills = sql`(select from svc.workflow_events where run_id = ${wf.runId} and name = 'kill') as kills`;
  for (let look = 0; look < 20 && cluster.isWorker && process.pid === began; look++) {
    const [found] = await wf.db.select({ one: sql<number>`1` }).from(kills);
    if (found) process.kill(process.pid, "SIGKILL");
    await sleep(200);
  }
  wf.log.info({ expense: id, key: wf.idempotencyKey }, "a real desk would pay here");
  return process.pid;
}

/** Colleagues who have the list open see it come up again. A real desk would send a mail. */
const touch = (wf: WorkflowContext, id: number) =>
  wf.db.update(expenses).set({ updatedAt: new Date() }).where(eq(expenses.id, id));

/** Files an expense and starts its run: both or neither. */
export const file = procedure.mutation
  .name("expenses.file")
  .input(v.object({ purpose: v.string(), cents: v.number() }))
  .handler(async ({ context: ctx, input }) => {
    const { user } = ctx.auth.requireAuth();
    const cents = Math.round(input.cents);
    const purpose = input.purpose.trim();
    const [row] = await ctx.db
      .insert(expenses)
      .values({ userId: user.id, purpose, cents })
      .returning({ id: expenses.id });
    const id = row?.id as number;
    const run = await ctx.workflows.start(approve, { id, cents });
    await ctx.db.update(expenses).set({ runId: run.id }).where(eq(expenses.id, id));
    return { id, runId: run.id };
  });

/** A colleague decides; nobody decides on what is their own. */
export const decide = procedure.mutation
  .name("expenses.decide")
  .input(v.object({ id: v.number(), approved: v.boolean() }))
  .handler(async ({ context: ctx, input }) => {
    const { user } = ctx.auth.requireAuth();
    const [expense] = await ctx.db.select().from(expenses).where(eq(expenses.id, input.id));
    if (!expense?.runId) throw new SvcError("NOT_FOUND", "There is no such expense.");
    if (expense.userId === user.id) throw new SvcError("FORBIDDEN", "A colleague decides on your own expenses.");
    if (expense.status !== "waiting") throw new SvcError("CONFLICT", "It has been decided already.");
    // The run is its owner's: a colleague cannot signal it, the system can.
    const decision = { runId: expense.runId, approved: input.approved, by: user.name };
    await ctx.scheduler.runAfter(0, "expenses.tell", decision);
  });

/** Takes a decision to the run, which may have ended meanwhile: then it changes nothing. */
export const tell = procedure.internal
  .name("expenses.tell")
  .runAs("system")
  .input(v.object({ runId: v.string(), approved: v.boolean(), by: v.string() }))
  .handler(async ({ context: ctx, input: { runId, ...decision } }) => {
    await ctx.workflows.signal(runId, "decision", decision).catch((error) => {
      if (!(error instanceof SvcError && error.code === "CONFLICT")) throw error;
    });
  });
