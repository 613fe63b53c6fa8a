// If this file fails, an operator does not see which channels are open, or sees what is said in them.
import { afterAll, beforeAll, expect, test } from "vitest";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { type ChannelReport, ChannelReporter } from "../../src/realtime/channel-report.ts";
import * as schema from "../fixture/backend/schema.ts";
import { channels, procedures } from "../realtime/channel-application.ts";
import { channels as durable } from "../realtime/durable-application.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";
import { studio } from "./test-studio.ts";

const db = database();
const api = apiWith({ procedures, channels: { ...channels, ...durable } });
const developing = new TestService(db, api, {}, schema);
const serving = new TestService(db, api, { production: true } as object, schema);
const idle = new TestService(db, api, {}, schema);
const opened = studio(db, false);
const connect = sockets(developing);
const elsewhere = sockets(serving);

beforeAll(async () => {
  await db.sql(realtimeFile(followedTables(api, schema)));
  await Promise.all([developing.start(), serving.start(), idle.start()]);
});
afterAll(() => Promise.all([developing.stop(), serving.stop(), idle.stop()]));

const lobby = (n: number) => `lobby::{"n":${n}}`;
async function join(socket: Awaited<ReturnType<typeof connect>>, ...keys: string[]) {
  for (const query of keys) {
    socket.send({ type: "subscribe", query });
    await socket.wait({ type: "subscribed", query });
  }
  return socket;
}
const ask = async (): Promise<ChannelReport[]> => (await opened.ask("channels", {})).processes;

test("each process with sockets tells its channels; which ones, and the sizes of messages, only while developing", async () => {
  expect(await ask()).toEqual([]);
  const one = await join(await connect(null), lobby(1), lobby(2));
  await join(await connect(null), lobby(1));
  await join(await elsewhere(null), lobby(1), 'wall::{"id":"1"}');
  one.send({ type: "send", query: lobby(1), event: "said", data: { text: "a secret" }, ref: 1 });
  await one.wait({ data: { sent: 1 } });

  const answers = async () => (await ask()).sort((a, b) => b.rooms.length - a.rooms.length);
  await expect.poll(async () => (await answers()).length, { timeout: 30_000 }).toBe(2);
  const [own, other] = await answers();
  const name = expect.stringMatching(/ \d+$/);
  expect(own).toEqual({
    process: name,
    names: [["lobby", 2, 3, 2]],
    rooms: [
      [lobby(1), 2],
      [lobby(2), 1],
    ],
    messages: [[expect.any(Number), lobby(1), "said", JSON.stringify({ json: { text: "a secret" } }).length]],
  });
  expect(other).toEqual({
    process: name,
    names: [
      ["lobby", 1, 1, 1],
      ["wall (durable)", 1, 1, 1],
    ],
    rooms: [],
    messages: [],
  });
  expect(JSON.stringify([own, other])).not.toContain("secret");
});

test("operators who ask at the same moment are both answered, and nothing is stored", async () => {
  await connect(null);
  const tables = await db.sql("select sum(n_tup_ins)::int as rows from pg_stat_user_tables where schemaname ~ '^svc'");
  const both = async () => (await Promise.all([ask(), ask()])).map(({ length }) => length);
  await expect.poll(both, { timeout: 30_000 }).toEqual([2, 2]);
  expect(opened.failures).toEqual([]);
  expect(await db.sql("select sum(n_tup_ins)::int as rows from pg_stat_user_tables where schemaname ~ '^svc'")).toEqual(
    tables,
  );
});

test("only Studio's reading login asks, and only the service answers", async () => {
  const question = crypto.randomUUID();
  for (const login of ["studioAct", "request", "auth"] as const) {
    const client = await db.connect(login);
    await expect(client.query("select svc_private.studio_ask_channels($1)", [question])).rejects.toMatchObject({
      code: "42501",
    });
  }
  for (const login of ["studioAct", "studioRead", "request", "auth"] as const) {
    const client = await db.connect(login);
    await expect(client.query("select svc_private.answer_channels($1, 'x')", [question])).rejects.toMatchObject({
      code: "42501",
    });
  }
});

test("a report fits into a notification, whatever the names and however many channels", async () => {
  const topics = Array.from({ length: 3_000 }, (_, i) => `${"채널".repeat(20)}${i % 300}::{"id":"${i}"}` as const);
  const rooms = new Map(topics.map((topic, i) => [topic, { size: i }]));
  for (const production of [false, true]) {
    let text = "";
    const answer = async (_: string, report: string) => {
      text = report;
    };
    const reporter = new ChannelReporter(rooms, { production, answer, definitions: new Map() });
    for (let i = 0; i < 100; i++) reporter.note(`😀${"x".repeat(i * 20)}`, "said", { json: "body" });
    await reporter.answer("svc_any");
    expect(Buffer.byteLength(text)).toBeLessThan(8_000);
    const report: ChannelReport = JSON.parse(text);
    expect(report.names.length).toBeGreaterThan(10);
    expect(report.names[0]?.[2]).toBeGreaterThan(report.names.at(-1)?.[2] ?? 0);
    expect(report.messages.length > 0).toBe(!production);
    expect(text).not.toContain("body");
  }
});
