/**
 * What a process tells Studio of its channels: how many are open and how many connections are in them. While developing also which, and
 * the sizes of the last messages. No body of a message.
 * Next hop: `sql/realtime/answer_channels.sql`; `src/studio/channels-panel.ts` asks.
 */
import { hostname } from "node:os";
import type { ChannelDefinition } from "../contract/channel-definition.ts";
import type { Body } from "./channel-codec.ts";

/** Lists and no objects, because a notification takes less than 8,000 bytes. */
export interface ChannelReport {
  /** Its host and its process id. */
  process: string;
  /** Of each definition with open channels. Behind the name: whether it is durable. */
  names: [name: string, open: number, members: number, largest: number][];
  /** The largest ones, while developing. */
  rooms: [topic: string, members: number][];
  /** The last messages, the newest first, while developing. */
  messages: [at: number, topic: string, message: string, bytes: number][];
}

/** In bytes, of a report; and entries of its lists. */
const most = { bytes: 7_500, rooms: 50, messages: 30, topic: 200 };

const cut = (topic: string) => (topic.length > most.topic ? `${topic.slice(0, most.topic - 1)}…` : topic);

export interface ReporterOptions {
  /** Tells Studio which channels are open here. */
  answer(question: string, report: string): Promise<void>;
  /** Whether sizes of messages are not kept. */
  production: boolean;
  definitions: ReadonlyMap<string, Pick<ChannelDefinition, "durable">>;
}

/** Answers at a time: questions must not occupy the database. */
const atOnce = 4;

export class ChannelReporter {
  readonly #rooms: Rooms;
  readonly #options: ReporterOptions;
  readonly #last: ChannelReport["messages"] = [];
  #answers = 0;

  /** @param rooms members by topic */
  constructor(rooms: Rooms, options: ReporterOptions) {
    this.#rooms = rooms;
    this.#options = options;
  }

  /** A message that is given to the members of a channel. */
  note(topic: string, message: string, body: Body): void {
    if (this.#options.production) return;
    this.#last.unshift([Date.now(), cut(topic), message, Buffer.byteLength(JSON.stringify(body))]);
    if (this.#last.length > most.messages) this.#last.pop();
  }

  async answer(question: string): Promise<void> {
    if (this.#answers >= atOnce) return;
    this.#answers++;
    const { definitions, production } = this.#options;
    const report = reportChannels(this.#rooms, production ? null : this.#last, definitions);
    await this.#options.answer(question, report).catch(() => {});
    this.#answers--;
  }
}

type Rooms = ReadonlyMap<string, { readonly size: number }>;

/** @param rooms members by topic @param last the last messages; null in production */
function reportChannels(
  rooms: Rooms,
  last: ChannelReport["messages"] | null,
  definitions: ReporterOptions["definitions"],
): string {
  const names = new Map<string, ChannelReport["names"][number]>();
  for (const [topic, { size }] of rooms) {
    const plain = topic.split("::", 1)[0] ?? topic;
    const name = definitions.get(plain)?.durable ? `${plain} (durable)` : plain;
    const [, open, members, largest] = names.get(name) ?? [name, 0, 0, 0];
    names.set(name, [name, open + 1, members + size, Math.max(largest, size)]);
  }
  const report: ChannelReport = {
    process: `${hostname().slice(0, 100)} ${process.pid}`,
    names: [...names.values()].sort((a, b) => b[2] - a[2]),
    rooms: last ? largestOf(rooms) : [],
    messages: [...(last ?? [])],
  };
  for (;;) {
    const text = JSON.stringify(report);
    if (Buffer.byteLength(text) <= most.bytes) return text;
    const { names, rooms, messages } = report;
    [messages, rooms, names].reduce((longest, one) => (one.length > longest.length ? one : longest)).pop();
  }
}

const largestOf = (rooms: Rooms): ChannelReport["rooms"] =>
  [...rooms]
    .sort(([, a], [, b]) => b.size - a.size)
    .slice(0, most.rooms)
    .map(([topic, { size }]) => [cut(topic), size]);
