// backend/index.ts
import { cron, defineApi, v, workflow } from "@svc/core";
import * as t from "./tasks.ts";

export const approve = workflow("expense.approve", {
  args: { amount: v.number() }, // map of validators, v.object(…) or any Standard Schema
  handler: async (wf, args) => {
    const id = await wf.step("record", async () => crypto.randomUUID()); // wf.db here commits with the checkpoint
    await wf.parallel([() => wf.step("mail", async () => 1), () => wf.step("ledger", async () => 2)]);
    const decision = await wf.waitForEvent("approval", "3 days"); // null on timeout
    await wf.sleep("10 minutes");
    return { id, amount: args.amount, approved: decision?.approved === true };
  },
});

export default defineApi({
  // one level of nesting; the names decide what `api` looks like
  procedures: {
    tasks: t.tasksCrud,
    openCount: t.openCount,
    attach: t.attach,
    remind: t.remind,
    digest: t.digest,
    articles: { ...t.articlesCrud, find: t.findArticles },
    guestbook: t.guestbookCrud,
    expense: t.expense,
  },
  crons: { nightly: cron.name("nightly").daily({ hour: 3 }).handler(t.digest) },
  httpRoutes: { hello: t.hello },
  workflows: { approve },
});
