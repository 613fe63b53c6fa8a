// If this file fails, a mutation that fails leaves a row, a job or a message behind, or one that succeeds lacks one.

import { expect, test } from "vitest";
import { z } from "zod";
import { SvcError } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";
import { apiWith, service } from "../support/service.ts";
import { jobs } from "../support/worker.ts";

/** Mutations, 16 at a time; `npm run chaos` raises them. */
const runs = Number(process.env.CHAOS_MUTATIONS ?? 200);

const effects = ["row", "job", "message"] as const;
const mixed = {
  noop: procedure.internal.name("mixed.noop").handler(() => {}),
  write: procedure.mutation
    .name("mixed.write")
    .input(z.object({ title: z.string(), order: z.array(z.enum(effects)), abortAfter: z.number() }))
    .handler(async ({ context, input: { title, order, abortAfter } }) => {
      const { user } = context.auth.requireAuth();
      for (const [index, effect] of order.entries()) {
        if (index === abortAfter) throw new SvcError("CONFLICT", "stopped");
        if (effect === "row") await context.db.insert(notes).values({ title, userId: user.id });
        if (effect === "job") await context.scheduler.runAfter(3_600_000, "mixed.noop", { title });
        if (effect === "message") context.realtime.invalidate("notes.list", { title });
      }
      if (order.length === abortAfter) throw new SvcError("CONFLICT", "stopped");
    }),
};

const db = database();
const app = service(db, apiWith({ procedures: { mixed } }));
/** Mutations of one user: a token lasts five minutes. */
const perUser = 500;

const call = fc.record({
  order: fc.shuffledSubarray([...effects], { minLength: 3 }),
  abortAfter: fc.integer({ min: 0, max: 6 }), // from 4 on: never
});

test(`of ${runs} mutations, aborted at random, rows, jobs and messages stay or go together`, {
  timeout: 60_000 + runs * 50,
}, async () => {
  await db.sql("select pg_create_logical_replication_slot('atomicity', 'pgoutput', true)");
  const calls = fc.sample(call, runs).map((one, index) => ({ ...one, title: `mixed ${index};` }));
  const kept: string[] = [];
  for (let first = 0; first < runs; first += perUser) {
    const user = await app.signUp(`user${first}`);
    const next = calls.slice(first, first + perUser).values();
    const caller = async () => {
      for (const args of next) {
        const { status } = await app.mutate(user, "mixed.write", args);
        expect(status).toBe(args.abortAfter <= 3 ? 409 : 200);
        if (status === 200) kept.push(args.title);
      }
    };
    await Promise.all(Array.from({ length: 16 }, caller));
  }
  kept.sort();

  const written = await db.sql("select title from public.notes where title like 'mixed %'");
  expect(written.map(({ title }) => title).sort()).toEqual(kept);
  const queued = await jobs(db);
  expect(queued.map(({ payload }) => (payload.args as { title: string }).title).sort()).toEqual(kept);
  // The slot returns flushed changes; a synchronous commit flushes all earlier ones.
  await db.sql("begin; set local synchronous_commit = on; select pg_logical_emit_message(true, 'flush', ''); commit");
  const log = await db.sql(
    `select data from pg_logical_slot_get_binary_changes('atomicity', null, null,
       'proto_version', '1', 'publication_names', (select min(pubname)::text from pg_publication), 'messages', 'true')
      where get_byte(data, 0) = ascii('M') and position('mixed '::bytea in data) > 0`,
  );
  expect(log.map(({ data }) => /mixed \d+;/.exec(data.toString("latin1"))?.[0]).sort()).toEqual(kept);
});
