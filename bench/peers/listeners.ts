/**
 * Sockets that listen, in a process of their own: one process has file descriptors for so many only. Orders come from
 * `bench/sockets.ts`.
 */
import { request } from "node:http";
import WebSocket from "ws";

export interface Order {
  /** Opens so many sockets. */
  open?: number;
  /** `ws://…` */
  url?: string;
  /** Of who connects; without it nothing is subscribed. */
  token?: string;
  /** The query's key that each watches; with several, in turn. */
  keys?: string[];
  /** Of a query's answer: what it read. */
  follows?: string;
  /** Answers when so many events were heard since the last time. */
  expect?: number;
}

const sockets: WebSocket[] = [];
let heard = 0;
let expected = Number.POSITIVE_INFINITY;

function hear(): void {
  if (++heard !== expected) return;
  heard = 0;
  expected = Number.POSITIVE_INFINITY;
  process.send?.("heard");
}

/** Without `fetch`, whose pool would keep connections. */
function ticket(url: string, token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const address = `${url.replace("ws", "http")}/api/realtime/ticket`;
    const asking = request(address, { method: "POST", agent: false, headers: { authorization: `Bearer ${token}` } });
    asking.on("response", (response) => {
      let text = "";
      response.on("data", (data) => {
        text += data;
      });
      response.on("end", () => resolve(JSON.parse(text).ticket));
    });
    asking.on("error", reject).end();
  });
}

async function open({ url = "", token, follows }: Order, key: string | undefined): Promise<void> {
  const address = token ? `${url}/ws?ticket=${await ticket(url, token)}` : url;
  const socket = new WebSocket(address, { perMessageDeflate: false });
  sockets.push(socket);
  const awaited = new Set(key ? ['{"type":"status","flow":"live"}', "subscribed"] : []);
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", (code) => reject(new Error(`closed with ${code}`)));
    socket.on("open", () =>
      key ? socket.send(JSON.stringify({ type: "subscribe", query: key, follows })) : resolve(),
    );
    socket.on("message", (data: Buffer) => {
      if (isEvent(data)) return hear();
      const text = String(data);
      awaited.delete(text.startsWith('{"type":"subscribed"') ? "subscribed" : text);
      if (awaited.size === 0) resolve();
    });
  });
}

const event = Buffer.from('{"type":"invalidate"');
const isEvent = (data: Buffer) => data.subarray(0, event.length).equals(event);

process.on("message", async (order: Order) => {
  const { open: count = 0, keys = [], expect } = order;
  if (expect !== undefined) {
    expected = expect;
    if (heard === expected) {
      heard--;
      hear();
    }
    return;
  }
  const before = sockets.length;
  while (sockets.length < before + count) {
    const some = Math.min(50, before + count - sockets.length);
    const from = sockets.length;
    await Promise.all(Array.from({ length: some }, (_, n) => open(order, keys[(from + n) % (keys.length || 1)])));
  }
  process.send?.("open");
});
process.on("disconnect", () => process.exit(0));
