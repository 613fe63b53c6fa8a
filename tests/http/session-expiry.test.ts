// If this file fails, streams and sockets stay open after the session of their user has expired.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createSvcHttpRouteBuilders } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";
import { until } from "../support/worker.ts";

const db = database();
beforeAll(() => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
});
afterAll(() => {
  vi.useRealTimers(); // the next file runs in the same process
});
const pieces = async function* () {
  for (;;) {
    yield "piece\n";
    await sleep(20);
  }
};
const following = createSvcHttpRouteBuilders()
  .get.path("/api/following")
  .handler(() => ({ body: pieces() }));
const app = service(db, apiWith({ httpRoutes: { following } }));
const connect = sockets(app);

async function begin(user: User) {
  const { body } = await fetch(`${app.url}/api/following`, { headers: bearer(user) });
  const reader = body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  return () => reader.read();
}

/** By the minute in which each process asks. Between its halves a socket answers its ping. */
async function passMinute() {
  for (let half = 0; half < 2; half++) {
    vi.advanceTimersByTime(30_000);
    await sleep(200);
  }
}

test("a stream and a socket end after their session has expired, and those of others stay open", async () => {
  const [ann, bob] = [await app.signUp("ann"), await app.signUp("bob")];
  const [anns, bobs] = [await begin(ann), await begin(bob)];
  const [annsSocket, bobsSocket] = [await connect(ann), await connect(bob)];
  // An earlier end by an ordinary statement would send a notice, which time does not.
  await db.sql(`do $$ begin
    set local session_replication_role = replica;
    update auth.session set expires_at = now() - interval '1 second' where user_id = '${ann.id}';
  end $$`);
  await passMinute();
  await until(async () => annsSocket.closed !== undefined);
  expect(annsSocket.closed).toEqual({ code: 4401, reason: "the session has ended" });
  await expect(
    (async () => {
      while (!(await anns()).done);
    })(),
  ).rejects.toThrow();
  expect((await bobs()).done).toBe(false);
  expect(bobsSocket.closed).toBeUndefined();
});
