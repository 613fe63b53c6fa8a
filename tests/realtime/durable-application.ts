/** Durable channels of the tests, and mutations that speak in them. */
import { setTimeout as sleep } from "node:timers/promises";
import { eq } from "drizzle-orm";
import { z } from "zod";
import { createSvc } from "../../src/app/create-svc.ts";
import * as schema from "../fixture/backend/schema.ts";

const { boards, guestbook } = schema;
const { channel, procedure } = createSvc({ schema });
const input = z.object({ id: z.string() });

/** For the members of a team. */
const diary = channel("diary", {
  input,
  join: async ({ context, input }) => (await context.db.$count(boards, eq(boards.teamId, input.id))) > 0,
  messages: { said: z.object({ text: z.string().max(20_000), at: z.date().optional() }) },
  notices: { moved: z.object({ text: z.string() }) },
  durable: { keep: "1 day", max: 100 },
});

/** For everybody, also without a session; it keeps few. */
const wall = channel("wall", {
  input,
  join: ({ input }) => input.id !== "closed",
  messages: { said: z.object({ text: z.string().max(20_000) }) },
  presence: z.object({}),
  durable: { keep: "1 hour", max: 10 },
  allowAnonymous: true,
});

/** It keeps many. */
const archive = channel("archive", {
  input,
  join: () => true,
  messages: { said: z.object({ text: z.string() }) },
  durable: { keep: "1 hour", max: 10_000 },
  allowAnonymous: true,
});

export const channels = { diary, wall, archive };

/** Sends `text` to the diaries, before it waits and writes its row. */
const note = procedure.mutation
  .name("test.note")
  .input(
    z.object({ ids: z.array(z.string()), text: z.string(), fail: z.boolean().optional(), wait: z.number().optional() }),
  )
  .handler(async ({ context, input: { ids, text, fail, wait } }) => {
    for (const id of ids) context.realtime.send(diary, { id }, "moved", { text });
    if (wait) await sleep(wait);
    await context.db.insert(guestbook).values({ message: text });
    if (fail) throw new Error("changed my mind");
  });

/** Says `text` in a nested transaction that is rolled back, and `after` behind it. */
const noteNested = procedure.mutation
  .name("test.noteNested")
  .input(z.object({ id: z.string(), text: z.string(), after: z.string() }))
  .handler(async ({ context: { db, realtime }, input: { id, text, after } }) => {
    const nested = db.transaction(async () => {
      realtime.send(diary, { id }, "moved", { text });
      throw new Error("changed my mind");
    });
    await nested.catch(() => {});
    realtime.send(diary, { id }, "moved", { text: after });
  });

const noteInQuery = procedure.query
  .name("test.noteInQuery")
  .handler(({ context }) => context.realtime.send(diary, { id: "x" }, "moved", { text: "y" }));

export const procedures = { note, noteNested, noteInQuery };
