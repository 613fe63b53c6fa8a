/** Channels in one process without a database, for tests of limits. */
import { expect } from "vitest";
import { ChannelFrames } from "../../src/realtime/channel-frames.ts";
import { ChannelRates } from "../../src/realtime/channel-limits.ts";
import type { Asked } from "../../src/realtime/channel-member.ts";
import { type AskJoin, Channels } from "../../src/realtime/channels.ts";
import { apiWith } from "../support/service.ts";
import { channels } from "./channel-application.ts";

const api = apiWith({ channels });
export const lobby = (n: number) => `lobby::{"n":${n}}`;

/** Channels without a database: what is sent comes back at once. Its clients take what they are allowed to. */
export function local(
  ask: (...asking: Parameters<AskJoin>) => Promise<Asked>,
  before: () => string | null = () => "1",
) {
  const definitions = api["~svc"].channels;
  const all: Channels = new Channels({
    definitions,
    ask,
    broadcast: async (text) => all.broadcast(text),
    store: async () => {},
    answer: async () => {},
    production: true,
    before,
  });
  const services = { definitions, channels: all, rates: new ChannelRates(), weigh() {}, hasRoomFor: () => true };
  const enter = async (key: string, address = `network ${Math.random()}`) => {
    const told: { type?: string; code?: string }[] = [];
    const heard: { message?: string; missed?: true; text?: string }[] = [];
    const socket = {
      session: null,
      address,
      network: address,
      waiting: 0,
      tell: (message: object) => void told.push(message),
      send(frame: Buffer) {
        const { data } = JSON.parse(frame.subarray(frame.indexOf("{")).toString());
        heard.push({ ...data, text: data.body?.json.text });
      },
    };
    const frames = new ChannelFrames(services, socket);
    frames.handle({ type: "subscribe", query: key });
    await expect.poll(() => told.length).toBeGreaterThan(0);
    return { socket, frames, told, heard };
  };
  const say = (topic: string, text: string) =>
    all.broadcast(JSON.stringify([{ c: topic, e: "said", b: { json: { text } }, from: null }]));
  return { all, enter, say };
}
export const yes: Asked = { isAllowed: true, snapshot: null, topics: ["rows:rooms"], isComplete: true };
