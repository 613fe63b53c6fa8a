// If this file fails, a channel that lets everybody in is accepted, or clients get other types than the backend has.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { clientApi } from "../../src/codegen/client-api.ts";
import { channel, createSvc, defineApi } from "../../src/index.ts";

const input = z.object({ id: z.string() });
const join = () => true;
const talk = channel("rooms.talk", { input, join });
const { procedure } = createSvc({ schema: {} });

describe("a channel is refused when it is defined", () => {
  test.each([
    ["without join", () => channel("a", { input } as never), /The channel "a": join: must be a function, got nothing/],
    ["without input", () => channel("a", { join } as never), /input: must be a Standard Schema/],
    [
      "with a mistyped option",
      () => channel("a", { input, join, anonymous: true } as never),
      /"anonymous" is not a known key/,
    ],
    [
      "with a message that has no schema",
      () => channel("a", { input, join, messages: { said: {} as never } }),
      /said: must be a Standard Schema/,
    ],
    [
      "with a message whose name is not valid",
      () => channel("a", { input, join, messages: { "a b": input } }),
      /must be a name of letters/,
    ],
    [
      "with a message that is a notice too",
      () => channel("a", { input, join, messages: { said: input }, notices: { said: input } }),
      /has "said" among messages and notices/,
    ],
    ["without a name", () => channel(undefined as never, { input, join }), /cannot be nothing/],
    ["with a name that is not valid", () => channel("a b", { input, join }), /cannot be "a b"/],
    [
      "with the name of another",
      () => defineApi({ channels: { a: talk, b: channel("rooms.talk", { input, join }) } }),
      /Two channels are named "rooms.talk"/,
    ],
    [
      "with the name of a procedure",
      () =>
        defineApi({ procedures: { b: procedure.query.name("rooms.talk").handler(() => 1) }, channels: { a: talk } }),
      /A procedure is named "rooms.talk"/,
    ],
    ["that is another object", () => defineApi({ channels: { a: {} as never } }), /channels.a is not a channel/],
  ])("%s", (_what, define, message) => expect(define).toThrow(message));
});

test.each([
  [
    {},
    /^The channel "a": durable.keep: must be a duration from "1 minute" to "365 days". Store in a table of yours what has to/,
  ],
  [{ keep: "7 dayz" }, /durable.keep: must be a duration/],
  [{ keep: "10 seconds" }, /durable.keep: must be a duration/],
  [{ keep: "366 days" }, /durable.keep: must be a duration/],
  [{ keep: -1 }, /durable.keep: must be a duration/],
  [{ keep: null }, /durable.keep: must be a duration/],
  [
    { keep: "7 days", max: 0 },
    /durable.max: must be a whole number from 1 to 10000: .* Store more of them in a table of yours/,
  ],
  [{ keep: "7 days", max: 10_001 }, /durable.max: must be a whole number/],
  [{ keep: "7 days", max: 1.5 }, /durable.max: must be a whole number/],
  [{ keep: "7 days", history: 5 }, /durable: "history" is not a known key/],
  [true, /durable: must be an object/],
])("a channel that stores %j is refused when it is defined", (durable, message) =>
  expect(() => channel("a", { input, join, durable: durable as never })).toThrow(message),
);

test("a durable channel keeps a thousand messages, if it says nothing else", () => {
  const { durable } = channel("a", { input, join, durable: { keep: "7 days" } })["~svc"].channel;
  expect(durable).toEqual({ keep: 7 * 86_400_000, max: 1_000 });
  expect(talk["~svc"].channel.durable).toBe(null);
});

test("clients get it under its name, with the types of the place where it is registered", () => {
  const text = clientApi(defineApi({ channels: { chat: talk } }), "/app/web/svc", "/app/backend/index.ts");
  expect(text).toContain('talk: channel("rooms.talk"),');
  expect(text).toContain('readonly talk: ChannelOf<Channels["chat"]>;');
  expect(text).toContain('type Channels = NonNullable<(typeof backend)["~svc"]["channelTypes"]>;');
  expect(text).toContain('import type backend from "../../backend/index.ts";');
});

test.each(["rooms", "rooms.talk.say"])("a procedure %s beside a channel is refused, and both are named", (name) => {
  const say = procedure.query.name(name).handler(() => 1);
  const api = defineApi({ procedures: { say }, channels: { talk } });
  expect(() => clientApi(api, "/app/web/svc", "/app/backend/index.ts")).toThrow(
    name === "rooms"
      ? 'The name "rooms" is also the beginning of "rooms.talk".'
      : 'The name "rooms.talk" is also the beginning of "rooms.talk.say".',
  );
});
