// If this file fails, a page whose network has vanished shows old data and says that it is live.
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Connection } from "../../client/sdk/src/realtime/connection.ts";
import { database } from "../support/database.ts";
import { FlakyProxy } from "../support/flaky-proxy.ts";
import { service } from "../support/service.ts";

const db = database();
const running = service(db);
let proxy: FlakyProxy;
let opened = 0;
beforeAll(async () => {
  proxy = await FlakyProxy.start(running.url);
  proxy.fault = () => {
    opened++;
    return { kind: "none" };
  };
});
afterAll(() => proxy.stop());

let pings = 0;
class CountingSocket extends WebSocket {
  override send(frame: string): void {
    if (frame === '{"type":"ping"}') pings++;
    super.send(frame);
  }
}

test("a socket that says nothing is asked; one that does not answer is replaced, and no change is missed", async () => {
  const patience = { quietMs: 50, answerMs: 2_000 };
  const transport = { baseUrl: proxy.url, fetch: globalThis.fetch };
  const connection = new Connection({ transport, auth: undefined, WebSocket: CountingSocket, patience });
  onTestFinished(() => connection.close());
  const seen = { asked: 0, changed: 0 };
  connection.listen("guestbook.list", {
    subscribed: () => seen.asked++,
    changed: () => seen.changed++,
    updated: () => {},
    refused: ({ message }) => expect.unreachable(message),
  });
  await expect.poll(connection.getStatus).toBe("live");
  await expect.poll(() => seen.asked).toBe(1);

  await expect.poll(() => pings).toBeGreaterThan(3);
  expect(opened).toBe(1); // the service answers each
  const sign = () => db.sql("insert into guestbook (message) values ('hello')");
  await sign();
  await expect.poll(() => seen.changed).toBe(1);

  proxy.isMute = true;
  await expect.poll(connection.getStatus).toBe("degraded");
  await sign(); // nobody hears of it
  proxy.isMute = false;
  await expect.poll(connection.getStatus).toBe("live");
  await expect.poll(() => seen.asked).toBe(2); // the page asks again
  expect(seen.changed).toBe(1);
  await sign();
  await expect.poll(() => seen.changed).toBe(2);
});

test("a page that replaces its only query while there is no socket gets one", async () => {
  const sockets: WebSocket[] = [];
  class Socket extends WebSocket {
    constructor(url: string | URL) {
      super(url);
      sockets.push(this);
    }
  }
  const transport = { baseUrl: running.url, fetch: globalThis.fetch };
  const connection = new Connection({ transport, auth: undefined, WebSocket: Socket });
  onTestFinished(() => connection.close());
  const nobody = { subscribed() {}, changed() {}, updated() {}, refused() {} };
  connection.listen("guestbook.list", nobody);
  await expect.poll(connection.getStatus).toBe("live");
  // Not polled: it may last a millisecond only.
  const { promise: isDegraded, resolve } = Promise.withResolvers<void>();
  connection.subscribe(() => connection.getStatus() === "degraded" && resolve());
  sockets[0]?.close();
  await isDegraded;
  connection.forget("guestbook.list");
  connection.listen("guestbook.get", nobody);
  await expect.poll(connection.getStatus).toBe("live");
});
