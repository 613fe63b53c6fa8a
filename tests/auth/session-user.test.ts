// If this file fails, a handler changes the user of later calls, or a channel admits a user whose date it cannot compare.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createSvc } from "../../src/app/create-svc.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";
import { Socket } from "../support/sockets.ts";

const { channel, procedure } = createSvc({ schema });
const paidUntil = "2027-01-01T00:00:00.000Z";

/** Computes from the user's own date, and changes it by that. */
const renewal = procedure.query.name("renewal").handler(({ context }) => {
  const until = context.auth.requireAuth().user.paidUntil as Date;
  until.setFullYear(until.getFullYear() + 1);
  return until;
});
const now = procedure.query.name("now").handler(({ context }) => context.auth.requireAuth().user);
const paying = channel("paying", {
  input: z.object({ at: z.date() }),
  join: ({ context, input }) => (context.auth.requireAuth().user.paidUntil as Date) > input.at,
});

const auth = defineAuth({ user: { additionalFields: { paidUntil: { type: "timestamp" } } } });
const db = database();
const api = apiWith({ procedures: { renewal, now }, channels: { paying } });
const svc = new TestService(db, api, {}, schema, undefined, auth);
beforeAll(async () => {
  await db.sql(`alter table auth."user" add paid_until timestamptz default '${paidUntil}'`);
  await svc.start();
});
afterAll(() => svc.stop());

test("a handler that changes a date of its user changes nothing for later calls", async () => {
  const ann = await svc.signUp("ann");
  for (const token of [ann.token, ann.sessionToken]) {
    const user = { ...ann, token };
    for (let turn = 0; turn < 2; turn++)
      expect((await svc.query(user, "renewal")).body.json).toBe("2028-01-01T00:00:00.000Z");
    const { id, email } = ann;
    expect((await svc.query(user, "now")).body).toEqual({
      json: { id, email, name: "ann", paidUntil },
      meta: [[1, "paidUntil"]],
    });
  }
});

test("a channel's join has the dates of its user as dates, also for a socket with a ticket", async () => {
  const socket = await Socket.open(svc, await svc.signUp("ann"));
  const key = (at: string) => `paying::{"json":{"at":"${at}"},"meta":[[1,"at"]]}`;
  await socket.subscribe(key("2026-12-31T00:00:00.000Z"));
  socket.send({ type: "subscribe", query: key("2027-01-02T00:00:00.000Z") });
  expect(await socket.wait({ type: "error" })).toMatchObject({ code: "FORBIDDEN" });
});
