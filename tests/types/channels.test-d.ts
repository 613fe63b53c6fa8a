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
const api = defineApi({ channels: { talk } });
type Channels = NonNullable<(typeof api)["~svc"]["channelTypes"]>;
declare const ref: ChannelOf<Channels["talk"]>;
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
