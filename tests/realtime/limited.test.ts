// If this file fails, a limit of the application refuses visitors who join channels or watch queries, or counts them wrongly.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createSvc } from "../../src/app/create-svc.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";

const { channel, procedure } = createSvc({ schema });
const limit = { calls: 2, per: "1 hour" } as const;
const lobby = channel("lobby", {
  allowAnonymous: true,
  input: z.object({ room: z.number() }),
  join: async ({ context }) => {
    await context.rateLimit("lobby", limit);
    return true;
  },
  notices: { said: z.object({}) },
});
let runs = 0;
const board = procedure.query
  .name("limited.board")
  .allowAnonymous()
  .handler(async ({ context }) => {
    await context.rateLimit("board", limit);
    await context.rateLimit("all boards", { calls: 100, per: "1 hour", by: "everybody" });
    return ++runs;
  });
const renew = procedure.mutation
  .name("limited.renew")
  .handler(({ context }) => context.realtime.refresh("limited.board"));

const db = database();
const app = new TestService(
  db,
  apiWith({ procedures: { board, renew }, channels: { lobby } }),
  { limits: { socketsPerAddress: false } } as object,
  schema,
);
const connect = sockets(app);
beforeAll(() => app.start());
afterAll(() => app.stop());
beforeEach(() => db.sql("truncate svc_private.call_counts"));

const counts = () => db.sql("select name, left(subject, 8) as subject, count from svc_private.call_counts order by 1");

test("a visitor joins as many channels as the limit of the join allows, also where sockets have no limit", async () => {
  const socket = await connect(null);
  for (const room of [1, 2]) await socket.subscribe(`lobby::{"room":${room}}`);
  socket.send({ type: "subscribe", query: 'lobby::{"room":3}' });
  await socket.wait({ type: "error", code: "RATE_LIMITED", query: 'lobby::{"room":3}' });
  expect(await counts()).toEqual([{ name: "lobby", subject: "address:", count: 2 }]);
});

test("a query that runs once for all visitors counts for nobody, unless the author names whose calls are counted", async () => {
  const ann = await app.signUp("ann");
  const visitor = await connect(null);
  await visitor.subscribe("limited.board");
  for (const _ of "three") {
    await app.mutate(ann, "limited.renew");
    await visitor.wait({ type: "query:updated", query: "limited.board" });
  }
  expect(await counts()).toMatchObject([{ name: "all boards", count: runs }]);
  const watcher = await connect(ann);
  await watcher.subscribe("limited.board");
  await app.mutate(ann, "limited.renew");
  await watcher.wait({ type: "query:updated", query: "limited.board" });
  expect(await counts()).toContainEqual({ name: "board", subject: `user:${ann.id.slice(0, 3)}`, count: 1 });
});
