/** What clients and handlers may send in a channel, and what arrives. */
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { useChannel } from "../../client/react/src/index.ts";
import { type ChannelOf, joinChannel, type SvcClient } from "../../client/sdk/src/index.ts";
import { type Context, channel, defineApi } from "../../src/index.ts";

const talk = channel("rooms.talk", {
  input: z.object({ id: z.string() }),
  join: ({ input }) => input.id !== "",
  messages: { said: z.object({ text: z.string(), at: z.coerce.date<string>() }) },
  notices: { moved: z.object({ to: z.number() }) },
  presence: z.object({ typing: z.boolean().default(false) }),
});
const chat = channel("rooms.chat", {
  input: z.object({ id: z.string() }),
  join: () => true,
  messages: { said: z.object({ text: z.string() }) },
  notices: { moved: z.object({ to: z.number() }) },
  durable: { keep: "7 days" },
});
const api = defineApi({ channels: { talk, chat } });
type Channels = NonNullable<(typeof api)["~svc"]["channelTypes"]>;
declare const ref: ChannelOf<Channels["talk"]>;
declare const durable: ChannelOf<Channels["chat"]>;
declare const client: SvcClient<object>;
declare const context: Context;

test("members send messages, and hear notices too", () => {
  const room = joinChannel(client, ref, { id: "a" }, { state: {} });
  room.on("said", (data, from) => {
    expectTypeOf(data).toEqualTypeOf<{ text: string; at: Date }>();
    expectTypeOf(from).toEqualTypeOf<{ readonly id: string; readonly userId: string | null } | null>();
  });
  room.on("moved", ({ to }) => expectTypeOf(to).toEqualTypeOf<number>());
  room.send("said", { text: "a", at: "2026-01-01" });
  expectTypeOf(room.getState().members[0]?.state).toEqualTypeOf<{ typing: boolean } | null | undefined>();
  // @ts-expect-error a notice is for handlers
  room.send("moved", { to: 1 });
  // @ts-expect-error of another type
  room.send("said", { text: 1, at: "" });
  // @ts-expect-error of another type
  joinChannel(client, ref, { id: 1 });
});

test("components too", () => {
  const { members, send } = useChannel(ref, { id: "a" }, { on: { moved: ({ to }) => to.toFixed() } });
  expectTypeOf(members[0]?.state).toEqualTypeOf<{ typing: boolean } | null | undefined>();
  send("said", { text: "a", at: "" });
  // @ts-expect-error there is no such message
  useChannel(ref, { id: "a" }, { on: { shouted: () => {} } });
});

test("handlers send both", () => {
  context.realtime.send(talk, { id: "a" }, "moved", { to: 1 });
  context.realtime.send(talk, { id: "a" }, "said", { text: "a", at: "" });
  // @ts-expect-error of another type
  context.realtime.send(talk, { id: "a" }, "moved", { to: "1" });
});

test("a durable channel gives its messages, with number and time; another has none", () => {
  const room = joinChannel(client, durable, { id: "a" }, { history: 50 });
  for (const one of room.getState().messages) {
    expectTypeOf(one.id).toEqualTypeOf<number>();
    expectTypeOf(one.at).toEqualTypeOf<Date>();
    if (one.message === "said") expectTypeOf(one.data).toEqualTypeOf<{ text: string }>();
    else expectTypeOf(one.data).toEqualTypeOf<{ to: number }>();
  }
  room.on("said", (_data, _from, stored) =>
    expectTypeOf(stored).toEqualTypeOf<{ readonly id: number; readonly at: Date }>(),
  );
  const { messages } = useChannel(
    durable,
    { id: "a" },
    { history: 50, on: { moved: (_data, _from, { id }) => id.toFixed() } },
  );
  expectTypeOf(messages[0]?.message).toEqualTypeOf<"said" | "moved" | undefined>();
  expectTypeOf(joinChannel(client, ref, { id: "a" }).getState().messages).toEqualTypeOf<readonly never[]>();
  // @ts-expect-error it stores nothing
  joinChannel(client, ref, { id: "a" }, { history: 50 });
  // @ts-expect-error it stores nothing
  useChannel(ref, { id: "a" }, { history: 50 });
});
