/**
 * A worker in a separate process, for tests that kill it. Says "ready" over the channel, and takes the jobs of the
 * queue.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineApi } from "../../src/app/api.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { work } from "./child.ts";

const [urls = "{}", secret = ""] = process.argv.slice(2);

/** Writes its row in the middle of some work, so that a kill meets jobs before, at and after their row. */
const record = procedure.internal
  .name("child.record")
  .input(z.object({ title: z.string() }))
  .handler(async ({ context, input }) => {
    const { user } = context.auth.requireAuth();
    await sleep(Math.random() * 20);
    await context.db.insert(schema.notes).values({ title: input.title, userId: user.id });
    await context.scheduler.runAfter(86_400_000, "child.record", { title: `follows ${input.title}` });
    await sleep(Math.random() * 20);
  });

await work({ api: defineApi({ procedures: { record } }), urls, secret }, { rescueEveryMs: 200 });
