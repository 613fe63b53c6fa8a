// If this file fails, a client cannot tell whether an answer is older than a change that it has heard of.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";
import { count, procedures } from "./socket-application.ts";

const db = database();
const running = service(db, apiWith({ procedures }));
const connect = sockets(running);
const boardChanged = { type: "invalidate", queries: ["test.board"] };

test("a subscription says which transactions an answer must have seen to miss nothing", async () => {
  const visitor = await connect(null);
  const subscribed = async () => {
    visitor.send({ type: "subscribe", query: "test.board" });
    const { before } = await visitor.wait({ type: "subscribed" });
    return BigInt(before);
  };
  const first = await subscribed();
  await db.sql('select svc.emit_message(\'{"invalidate":"test.board"}\')');
  const told = BigInt((await visitor.wait(boardChanged)).xid);
  expect(told >= first).toBe(true);
  expect(await subscribed()).toBe(told + 1n);
});

test("a watched query says which transactions it saw", async () => {
  const ann = await running.signUp("ann");
  const ask = (name: string) =>
    running.fetch("/api/query", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${ann.token}` },
      body: JSON.stringify({ name, watch: true }),
    });
  expect((await ask("notes.list")).body).toEqual({
    json: { data: [], total: 0 },
    snapshot: expect.stringMatching(/^\d+:\d+:/),
  });
  expect((await ask("test.board")).body).toEqual({ json: { count }, snapshot: null });
});
