// If this file fails, a page shows rows of the user before, or saves what one user did in the name of another.
import { expect, onTestFinished, test, vi } from "vitest";
import { createAuthClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { Device, note, offlinePage, person } from "../support/offline-page.ts";
import { service } from "../support/service.ts";

const db = database();
const running = service(db, undefined, { frontendOrigins: ["http://front.example"] } as never);
const stored = async (user: string) =>
  (await db.sql("select title from notes where user_id = $1 order by id", [user])).map(({ title }) => title);

test("when a user signs out the rows are gone at once, and what waits is kept for that user alone", async () => {
  const page = await offlinePage(running.url, { keepRows: true });
  const ann = person();
  const { id } = await page.auth.signUp(...ann);
  await page.client.mutate(api.notes.create, { title: "of Ann" });
  await expect.poll(page.titles).toEqual(["of Ann"]);
  await expect.poll(() => page.device.keys("rows/")).toHaveLength(1);
  page.offline();
  page.notes.insert(note("waits"));
  await expect.poll(() => page.device.keys("outbox/")).toHaveLength(1);
  const leaving = page.auth.signOut().catch(() => {}); // the service does not hear of it
  expect([page.titles(), page.outbox.pending()]).toEqual([[], []]);
  await leaving;
  await expect.poll(() => page.device.keys("rows/")).toEqual([]);
  page.online();
  const bob = await page.auth.signUp(...person());
  expect([page.titles(), page.outbox.pending()]).toEqual([[], []]);
  page.notes.insert(note("of Bob"));
  await expect.poll(() => stored(bob.id)).toEqual(["of Bob"]);
  await expect.poll(page.titles).toEqual(["of Bob"]);
  expect(await stored(id)).toEqual(["of Ann"]);
  await page.auth.signOut();
  expect(page.titles()).toEqual([]);

  await page.auth.signIn(ann[0], ann[1]);
  await expect.poll(() => stored(id)).toEqual(["of Ann", "waits"]);
  await expect.poll(page.titles).toEqual(["of Ann", "waits"]);
  expect(await stored(bob.id)).toEqual(["of Bob"]);
});

test("rows are gone at once also while the device still keeps a mutation", async () => {
  const device = new Device();
  const page = await offlinePage(running.url, { device });
  await page.auth.signUp(...person());
  await page.client.mutate(api.notes.create, { title: "of Ann" });
  await expect.poll(page.titles).toEqual(["of Ann"]);
  const { promise: written, resolve: write } = Promise.withResolvers<void>();
  device.before = (use) => (use === "write" ? written : undefined);
  const kept = page.notes.insert(note("being kept")).when("settled");
  expect(page.titles()).toEqual(["being kept", "of Ann"]);
  await page.auth.signOut();
  await expect.poll(page.titles).toEqual([]);
  write();
  await kept;
  expect(page.titles()).toEqual([]);
  expect(device.keys("outbox/")).toHaveLength(1);
});

test("a row that may not be seen any more leaves, also while a mutation waits", async () => {
  const page = await offlinePage(running.url);
  const { id } = await page.auth.signUp(...person());
  for (const title of ["a", "b"]) await page.client.mutate(api.notes.create, { title });
  await expect.poll(page.titles).toEqual(["a", "b"]);
  page.notes.insert(note("c"));
  page.rename("b", "changed");
  const other = await running.signUp("bob");
  await db.sql("update notes set user_id = $2 where user_id = $1 and title in ('b', 'changed')", [id, other.id]);
  await expect.poll(page.titles).toEqual(["a", "c"]);
});

test("kept rows are shown to their user without a connection, and to nobody else", async () => {
  const page = await offlinePage(running.url, { keepRows: true });
  await page.auth.signUp(...person());
  await page.client.mutate(api.notes.create, { title: "kept" });
  await expect.poll(() => [...page.device.items.values()].some((text) => text.includes("kept"))).toBe(true);
  page.offline();
  const again = await page.reload();
  await expect.poll(again.titles).toEqual(["kept"]);
  expect(again.notes.toArray[0]?.createdAt).toBeInstanceOf(Date);
  again.device.session.clear(); // the session has ended meanwhile
  const later = await again.reload();
  await expect.poll(() => later.device.keys("rows/")).toEqual([]);
  expect(later.titles()).toEqual([]);
});

test("a row that was saved just before the connection was lost is among the kept ones", async () => {
  let isLost = false;
  const page = await offlinePage(running.url, {
    keepRows: true,
    client: {
      async fetch(input, init) {
        if (isLost) throw new TypeError("lost");
        if (!String(input).endsWith("/api/mutation")) return fetch(input, init);
        page.offline(); // neither an answer of the query nor a notice may come
        const answer = await fetch(String(input).replace(page.network.url, running.url), init);
        isLost = true;
        return answer;
      },
    },
  });
  await page.auth.signUp(...person());
  await page.notes.preload();
  await expect.poll(() => page.client.realtime.getStatus()).toBe("live");
  page.notes.insert(note("saved"));
  await expect.poll(() => isLost && page.outbox.pending().length === 0).toBe(true);
  const again = await page.reload();
  await expect.poll(again.titles).toEqual(["saved"]);
  again.rename("saved", "changed");
  expect(again.titles()).toEqual(["changed"]);
});

test("rows are kept once for all that is saved in a row: there may be many, and each time takes long on a telephone", async () => {
  const { promise: offline, resolve: goOn } = Promise.withResolvers<void>();
  const page = await offlinePage(running.url, {
    keepRows: true,
    client: {
      async fetch(input, init) {
        if (!String(input).endsWith("/api/mutation")) return fetch(input, init);
        await offline;
        return fetch(String(input).replace(page.network.url, running.url), init);
      },
    },
  });
  await page.auth.signUp(...person());
  await page.notes.preload();
  await expect.poll(() => page.client.realtime.getStatus()).toBe("live");
  await expect.poll(() => page.device.keys("rows/")).toHaveLength(1);
  const titles = Array.from({ length: 9 }, (_, n) => `saved ${n}`);
  for (const title of titles) page.notes.insert(note(title));
  let times = 0;
  page.device.before = (use, key) => {
    if (use === "write" && key.startsWith("rows/")) times++;
  };
  page.offline(); // no answer of the query comes
  goOn();
  await expect.poll(page.outbox.pending).toEqual([]);
  const again = await page.reload();
  await expect.poll(again.titles).toEqual(titles);
  expect(times).toBe(1);
});

test("in cookie mode nothing is saved for the user whose cookie the browser has got meanwhile", async () => {
  let cookie = "";
  const jar: typeof fetch = async (input, init) => {
    const headers = { ...(init?.headers as object), origin: "http://front.example", ...(cookie && { cookie }) };
    const response = await fetch(input, { ...init, headers });
    const [set] = response.headers.getSetCookie();
    if (set) cookie = set.split(";")[0] ?? "";
    return response;
  };
  const ann = person();
  const page = await offlinePage(running.url, {
    auth: { strategy: { kind: "cookie" }, sessionTokenStorage: undefined, fetch: jar },
    client: { fetch: jar },
  });
  const { id } = await page.auth.signUp(...ann);
  await page.client.mutate(api.notes.create, { title: "of Ann" });
  await expect.poll(page.titles).toEqual(["of Ann"]);
  const ofAnn = cookie;
  // Another tab: this page has not heard of it, and at no moment has the browser no cookie.
  const elsewhere = createAuthClient(running.url, { strategy: { kind: "cookie" }, fetch: jar });
  const bob = await elsewhere.signUp(...person());
  expect(cookie).not.toBe(ofAnn);
  expect(page.auth.getState().user?.id).toBe(id);
  page.notes.insert(note("by Ann"));
  await expect.poll(() => page.auth.getState().user?.id).toBe(bob.id); // it asks who is signed in
  expect(page.titles()).not.toContain("by Ann");
  expect([await stored(bob.id), await stored(id)]).toEqual([[], ["of Ann"]]);
  cookie = ofAnn;
  await page.auth.restore();
  await expect.poll(() => stored(id)).toEqual(["of Ann", "by Ann"]);
  expect(await stored(bob.id)).toEqual([]);
  elsewhere.close();
});

test("what waits for a session that has ended is not taken for sent, and is sent days after", async () => {
  // Until the service has heard that the session has ended, it would save.
  const late: typeof fetch = async (input, init) => {
    const headers = {
      "content-type": "application/json",
      authorization: new Headers(init?.headers).get("authorization") ?? "",
    };
    const query = { method: "POST", headers, body: JSON.stringify({ name: "notes.list", args: {} }) };
    const answer = async () => (await running.fetch("/api/query", query)).status;
    if (String(input).endsWith("/api/mutation") && isOver) await expect.poll(answer).toBe(401);
    return fetch(input, init);
  };
  let isOver = false;
  const page = await offlinePage(running.url, { client: { fetch: late } });
  const ann = person();
  const { id } = await page.auth.signUp(...ann);
  await page.notes.preload();
  await expect.poll(page.client.realtime.getStatus).toBe("live");
  isOver = true;
  await db.sql("delete from auth.session where user_id = $1", [id]);
  page.notes.insert(note("waits"));
  await expect.poll(() => page.auth.getState().user).toBe(null);
  await expect
    .poll(() => [...page.device.items.values()].map((text) => JSON.parse(text).attemptedAt))
    .toEqual([undefined]);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3 * 86_400_000 });
  onTestFinished(() => void vi.useRealTimers());
  isOver = false;
  await page.auth.signIn(ann[0], ann[1]);
  await expect.poll(() => stored(id)).toEqual(["waits"]);
  expect(page.refused).toEqual([]);
});

test("a call with a key that names another user than the session's is refused, and runs nothing", async () => {
  const [ann, bob] = await Promise.all([running.signUp("ann"), running.signUp("bob")]);
  const call = (user: string, key: string) =>
    running.fetch("/api/mutation", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${ann.token}`,
        "idempotency-key": key,
        "svc-user": user,
      },
      body: JSON.stringify({ name: "notes.create", args: { title: "named" } }),
    });
  expect(await call(bob.id, "one")).toMatchObject({ status: 412, body: { code: "PRECONDITION_FAILED" } });
  expect(await call(ann.id, "one")).toMatchObject({ status: 200 });
  expect([await stored(ann.id), await stored(bob.id)]).toEqual([["named"], []]);
});
