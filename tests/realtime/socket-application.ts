/** The queries that socket.test.ts watches, and a mutation that emits events in every way. */
import { z } from "zod";
import { operationKey } from "../../client/sdk/src/key.ts";
import { createSvcProcedureBuilders } from "../../src/contract/procedure.ts";
import { v } from "../../src/kit/v.ts";

const { query, mutation } = createSvcProcedureBuilders();
/** How often an event was emitted. */
export let count = 0;
const board = query
  .name("test.board")
  .allowAnonymous()
  .handler(() => ({ count }));
/** What each run of the query below waits for. */
export const gates: Promise<void>[] = [];
const slow = query
  .name("test.slow")
  .allowAnonymous()
  .handler(async () => {
    const seen = count;
    await gates.shift();
    return seen;
  });
const secret = query.name("test.secret").handler(() => 1);
const since = query
  .name("test.since")
  .allowAnonymous()
  .input(z.object({ from: z.date(), id: z.bigint() }))
  .handler(() => count);
/** The same arguments in another order give the same key. */
export const from = new Date(0);
const id = 7n;
export const sinceKey = operationKey({ kind: "query", name: "test.since" }, { from, id });
/** Half of a character, and NUL: strings that JSON has and jsonb has not. */
export const oddText = "\ud83d \u0000 \\u0000";
const tell = mutation
  .name("test.tell")
  .input(v.object({ how: v.string(), fail: v.optional(v.boolean()) }))
  .handler(({ context, input }) => {
    count++;
    if (input.how === "invalidate") context.realtime.invalidate("test.board");
    if (input.how === "refresh") context.realtime.refresh("test.board");
    if (input.how === "refresh slow") context.realtime.refresh("test.slow");
    if (input.how === "refresh secret") context.realtime.refresh("test.secret");
    if (input.how === "emit") context.realtime.emit("test.board", { count: 99 });
    if (input.how === "emit odd text") context.realtime.emit("test.board", { odd: oddText });
    if (input.how === "emit function") context.realtime.emit("test.board", () => 1);
    if (input.how === "invalidate since") context.realtime.invalidate("test.since", { id, from });
    if (input.how === "refresh since") context.realtime.refresh("test.since");
    if (input.how === "emit since") context.realtime.emit(sinceKey, { at: from, id });
    if (input.how === "misspelt") context.realtime.invalidate("test.bord");
    if (input.how === "emit secret") context.realtime.emit("test.secret", 2);
    if (input.fail) throw new Error("changed my mind");
  });
const speakingQuery = query.name("test.speaking").handler(({ context }) => context.realtime.invalidate("test.board"));

export const procedures = { board, slow, secret, since, tell, speakingQuery };
