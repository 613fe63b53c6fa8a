// If this file fails, a page whose socket a proxy or a Content-Security-Policy blocks shows old data.
import { expect, onTestFinished, test, vi } from "vitest";
import WebSocket from "ws"; // takes headers
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { cutReader } from "../support/sockets.ts";

const db = database();
const running = service(db);

/** Neither opens nor closes, as behind a proxy that does not pass the upgrade on. */
class Unopened {
  readyState = 0;
  close(): void {}
}

function connect(fetch: typeof globalThis.fetch = globalThis.fetch) {
  const client = createSvcClient({ api, baseUrl: running.url, fetch, WebSocket: Unopened as never });
  onTestFinished(() => client.close());
  return client;
}

test("while the socket does not open, changes are shown nevertheless", async () => {
  const client = connect();
  let shown: string[] = [];
  client.watch(api.guestbook.list, {}, ({ data }) => {
    shown = data.map(({ message }) => message);
  });
  await expect.poll(() => client.realtime.getStatus()).toBe("connecting");
  await db.sql("insert into guestbook (message) values ('hello')");
  await expect.poll(() => shown).toEqual(["hello"]);
  await db.sql("insert into guestbook (message) values ('again')");
  await expect.poll(() => shown.length).toBe(2);
});

test("where a socket may not even be made, as one to http on a page over https, changes are shown nevertheless", async () => {
  let tries = 0;
  function Refused() {
    tries++;
    throw new DOMException("insecure", "SecurityError");
  }
  const client = createSvcClient({ api, baseUrl: running.url, WebSocket: Refused as never });
  onTestFinished(() => client.close());
  let shown: string[] = [];
  client.watch(api.guestbook.list, { limit: 1 }, ({ data }) => {
    shown = data.map(({ message }) => message);
  });
  await expect.poll(() => client.realtime.getStatus()).toBe("degraded");
  await expect.poll(() => tries).toBe(2); // it may be possible later
  await db.sql("insert into guestbook (message) values ('without a socket')");
  await expect.poll(() => shown).toEqual(["without a socket"]);
});

test("a query whose arguments fill more than a frame is called now and then, and takes the socket from no other", async () => {
  const sockets: globalThis.WebSocket[] = [];
  class Socket extends globalThis.WebSocket {
    constructor(url: string | URL) {
      super(url);
      sockets.push(this);
    }
  }
  const client = createSvcClient({ api, baseUrl: running.url, WebSocket: Socket });
  onTestFinished(() => client.close());
  const errors: unknown[] = [];
  let shown = -1;
  const search = "x".repeat(20_000);
  client.watch(
    api.guestbook.list,
    { search } as never,
    () => {},
    (error) => errors.push(error),
  );
  client.watch(api.guestbook.list, { limit: 5 }, ({ data }) => {
    shown = data.length;
  });
  await expect.poll(() => client.realtime.getStatus()).toBe("live");
  await expect.poll(() => errors).toContainEqual(expect.objectContaining({ code: "BAD_REQUEST" }));
  await expect.poll(() => shown).toBeGreaterThanOrEqual(0);
  const before = shown;
  await db.sql("insert into guestbook (message) values ('beside it')");
  await expect.poll(() => shown).toBe(Math.min(before + 1, 5));
  expect(sockets.length).toBe(1);
});

test("a query that may not be watched is called now and then, also after a gap in what the service reads", async () => {
  const client = createSvcClient({ api, baseUrl: running.url });
  onTestFinished(() => client.close());
  const errors: unknown[] = [];
  const flows: string[] = [];
  let shown = -1;
  client.realtime.subscribe(() => flows.push(client.realtime.getStatus()));
  client.watch(
    api.ranked_articles.list,
    {}, // without what decides the scope
    ({ total }) => {
      shown = total ?? -1;
    },
    (error) => errors.push(error),
  );
  await expect.poll(() => client.realtime.getStatus()).toBe("live");
  await expect.poll(() => errors).toContainEqual(expect.objectContaining({ code: "BAD_REQUEST" }));
  const before = flows.length;
  await cutReader(db);
  await expect.poll(() => flows.slice(before)).toEqual(["degraded", "live"]);
  await expect.poll(() => shown).toBe(0);
  await db.sql("set session_replication_role = replica");
  await db.sql("insert into articles (user_id, title, rank, published_at) values ('nobody', 'x', 1, '2026-01-01')");
  await db.sql("reset session_replication_role");
  await expect.poll(() => shown).toBe(1);
});

test("a service that does not answer is asked less and less often", async () => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(1);
  onTestFinished(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  const fetch = vi.fn<typeof globalThis.fetch>(() => Promise.reject(new TypeError("refused")));
  connect(fetch).watch(api.guestbook.list, {}, () => {});
  await vi.advanceTimersByTimeAsync(60_000);
  // Three at once, then after waits of 0.5, 1, 2, 4, 8, 16 seconds.
  expect(fetch).toHaveBeenCalledTimes(9);
});

test("a page in cookie mode shows that its session has ended, though its socket connects again", async () => {
  let cookie = "";
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const headers = { ...(init?.headers as Record<string, string>), origin: running.url, ...(cookie && { cookie }) };
    const response = await globalThis.fetch(input, { ...init, headers });
    cookie ||= response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    return response;
  };
  /** As a browser, which sends the cookie along. */
  class Socket extends WebSocket {
    constructor(url: string) {
      super(url, { headers: { origin: running.url, cookie } } as never);
    }
  }
  vi.stubGlobal("document", {}); // a page: it connects without a ticket
  onTestFinished(() => void vi.unstubAllGlobals());
  const auth = createAuthClient(running.url, { strategy: { kind: "cookie" }, fetch });
  const client = createSvcClient({ api, baseUrl: running.url, auth, fetch, WebSocket: Socket as never });
  onTestFinished(() => client.close());
  const user = await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  const errors: unknown[] = [];
  client.watch(
    api.notes.list,
    {},
    () => {},
    (error) => errors.push(error),
  );
  await expect.poll(() => client.realtime.getStatus()).toBe("live");
  await db.sql("delete from auth.session where user_id = $1", [user.id]);
  await expect.poll(() => auth.getState().user).toBeNull();
  await expect.poll(() => errors[0]).toMatchObject({ code: "UNAUTHORIZED" });
});
