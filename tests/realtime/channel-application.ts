/** The channels of the tests, and mutations that speak in them. */

import { eq } from "drizzle-orm";
import { z } from "zod";
import { createSvc } from "../../src/app/create-svc.ts";
import * as schema from "../fixture/backend/schema.ts";

const { boards, guestbook, posts } = schema;
const { channel, procedure } = createSvc({ schema });

/** For the members of a team: who sees no board of it may not be there. */
const team = channel("team", {
  input: z.object({ id: z.string().toLowerCase() }),
  join: async ({ context, input }) => (await context.db.$count(boards, eq(boards.teamId, input.id))) > 0,
  messages: { typing: z.object({ to: z.string().max(20_000), at: z.date().optional() }) },
  notices: { moved: z.object({ to: z.string() }) },
  presence: z.object({ mood: z.string() }),
});

/** For everybody, also without a session. */
const lobby = channel("lobby", {
  input: z.object({ n: z.number() }),
  join: ({ input }) => input.n < 10,
  messages: { said: z.object({ text: z.string() }) },
  presence: z.object({ name: z.string() }),
  allowAnonymous: true,
});

/** What it reads is not followed. */
const outside = channel("outside", {
  input: z.object({}),
  join: async ({ context }) => (await context.unsafeDb.$count(posts)) >= 0,
});

/** An author's mistake: it returns what it has read. */
const careless = channel("careless", { input: z.object({}), join: (() => ({ id: 1 })) as never });

export const channels = { team, lobby, outside, careless };

const tell = procedure.mutation
  .name("test.tell")
  .input(z.object({ id: z.string(), to: z.string(), fail: z.boolean().optional(), bare: z.boolean().optional() }))
  .handler(async ({ context, input: { id, to, fail, bare } }) => {
    context.realtime.send(team, { id }, "moved", { to });
    if (!bare) await context.db.insert(guestbook).values({ message: to });
    if (fail) throw new Error("changed my mind");
  });
const tellWrongly = procedure.mutation
  .name("test.tellWrongly")
  .handler(({ context }) => context.realtime.send(team, { id: "x" }, "moved", { to: 7 } as never));
/** A name that is not there, and a channel that is not registered. */
const unheard = channel("unheard", { input: z.object({}), join: () => true, notices: { moved: z.object({}) } });
const tellMisnamed = procedure.mutation
  .name("test.tellMisnamed")
  .handler(({ context }) => context.realtime.send(team, { id: "x" }, "movd" as never, {} as never));
const tellUnheard = procedure.mutation
  .name("test.tellUnheard")
  .handler(({ context }) => context.realtime.send(unheard, {}, "moved", {}));
const tellInQuery = procedure.query
  .name("test.tellInQuery")
  .handler(({ context }) => context.realtime.send(team, { id: "x" }, "moved", { to: "y" }));

/** Says `to` in a nested transaction that is rolled back, and `after` behind it. */
const tellNested = procedure.mutation
  .name("test.tellNested")
  .input(z.object({ id: z.string(), to: z.string(), after: z.string() }))
  .handler(async ({ context: { db, realtime }, input: { id, to, after } }) => {
    const nested = db.transaction(async () => {
      realtime.send(team, { id }, "moved", { to });
      throw new Error("changed my mind");
    });
    await nested.catch(() => {});
    realtime.send(team, { id }, "moved", { to: after });
  });

export const procedures = { tell, tellMisnamed, tellUnheard, tellWrongly, tellInQuery, tellNested };
