// If this file fails, webhooks sent as in docs/how-to/webhooks.md are lost, come out of order or unsigned, contain what the
// receiver may not see, or reach into the sender's network.
import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createTestApp, type TestApp } from "@svc/testing";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { testServer } from "../support/test-server.ts";
import { documented } from "./documented.ts";

const { db, folder, lint } = documented("docs/how-to/webhooks.md");
// biome-ignore lint/suspicious/noExplicitAny: the page's own references, written while the test runs
type Any = any;
let api: Any;
let app: TestApp<Any>;
let receiver: Server;
let status = 200;
const got: { path: string; headers: IncomingHttpHeaders; text: string; data: { id: string; title: string } }[] = [];

beforeAll(async () => {
  testServer(db);
  receiver = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    got.push({ path: request.url ?? "", headers: request.headers, text, ...JSON.parse(text) });
    response.writeHead(request.url === "/endless" ? 200 : status, { location: "/elsewhere" });
    if (request.url !== "/endless") return response.end();
    const timer = setInterval(() => response.write("x".repeat(65_536)), 1);
    response.on("close", () => clearInterval(timer));
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  vi.stubEnv("WEBHOOKS_LOCAL", "yes");
  api = (await import(`${folder}/web/svc/api.ts`)).api;
  app = await createTestApp({ api, cwd: folder, log: "silent" });
});
afterEach(() => {
  status = 200;
  got.length = 0;
  vi.stubEnv("WEBHOOKS_LOCAL", "yes");
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await app?.close();
  receiver?.closeAllConnections();
  receiver?.close();
});

const at = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;
async function customer(...paths: string[]) {
  const person: Any = await app.asUser();
  const endpoints: Any[] = [];
  for (const path of paths) endpoints.push(await person.mutate(api.endpoints.create, { url: at(path) }));
  return { person, endpoints };
}
const states = async (person: Any) =>
  (await person.query(api.deliveries.list, { orderBy: "sequence", orderDir: "asc" })).data.map((row: Any) => [
    row.state,
    row.attempts,
  ]);
/** The next attempt of everything that waits, and the end of every lease. */
async function pass() {
  await app.sql("update deliveries set due_at = now() where state = 'pending'");
  await app.sql("update endpoints set busy_until = now()");
  await app.enqueueCron("webhooks.deliver");
  await app.flushJobs();
}
const titles = (path: string) => got.filter((one) => one.path === path).map(({ data }) => data.title);

test("each change is sent once, signed, in its order, with the named columns, to the owner's endpoints alone", async () => {
  const { person, endpoints } = await customer("/a", "/b");
  await customer("/stranger");
  const { id } = await person.mutate(api.tickets.create, { title: "1", note: "hidden" });
  await person.mutate(api.tickets.update, { id, title: "2" });
  await app.sql("update tickets set title = '3' where id = $1", [id]);
  await app.flushJobs();
  await person.mutate(api.tickets.remove, { id });
  await pass();

  expect([titles("/a"), titles("/b"), titles("/stranger")]).toEqual([["1", "2", "3", "3"], ["1", "2", "3", "3"], []]);
  const types = got
    .filter(({ path }) => path === "/a")
    .map(({ text }) => JSON.parse(text).type.slice("ticket.".length));
  expect(types).toEqual(["created", "updated", "updated", "deleted"]);
  const key = Buffer.from(endpoints[0].secret.replace("whsec_", ""), "base64");
  expect(key).toHaveLength(32);
  for (const { path, headers, text } of got) {
    expect(text).not.toContain("hidden");
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${text}`;
    const wanted = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
    expect(headers["webhook-signature"] === wanted).toBe(path === "/a");
  }
  expect(new Set(got.map(({ headers }) => headers["webhook-id"])).size).toBe(8);
});

test("a failing receiver is asked again, its ticket waits, other tickets do not; then it is dead and can be replayed", async () => {
  const { person } = await customer("/c");
  const { id } = await person.mutate(api.tickets.create, { title: "1" });
  status = 500;
  await app.flushJobs();
  await person.mutate(api.tickets.update, { id, title: "2" });
  status = 200;
  await person.mutate(api.tickets.create, { title: "other" });
  await app.flushJobs();
  expect(titles("/c")).toEqual(["1", "other"]);
  await pass();
  expect(titles("/c")).toEqual(["1", "other", "1", "2"]);
  expect(new Set(got.filter(({ data }) => data.title === "1").map(({ headers }) => headers["webhook-id"])).size).toBe(
    1,
  );

  status = 302; // is not followed
  await person.mutate(api.tickets.update, { id, title: "3" });
  await app.flushJobs();
  for (let n = 1; n < 8; n++) await pass();
  expect((await states(person)).at(-1)).toEqual(["dead", 8]);
  expect(got.map(({ path }) => path)).not.toContain("/elsewhere");
  const dead = (await person.query(api.deliveries.list, { filters: { state: "dead" } })).data[0];
  expect(dead.lastError).toBe("The receiver answered 302.");
  const stranger: Any = await app.asUser();
  await expect(stranger.mutate(api.webhooks.replay, { id: dead.id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  status = 200;
  await person.mutate(api.webhooks.replay, { id: dead.id });
  await app.flushJobs();
  expect((await states(person)).at(-1)).toEqual(["sent", 1]);
});

test("an answer without end is cut off, 410 switches off, and a killed worker's delivery is sent again", async () => {
  const { person, endpoints } = await customer("/endless", "/gone");
  status = 410;
  await person.mutate(api.tickets.create, { title: "1" });
  await app.flushJobs();
  expect((await states(person)).map(([state]: string[]) => state).sort()).toEqual(["dead", "sent"]);
  const [endless, gone] = endpoints;
  expect((await person.query(api.endpoints.get, { id: gone.id })).enabled).toBe(false);
  // A worker that has claimed and is killed before it sends.
  await app.sql("update endpoints set enabled = false where id <> $1", [endless.id]);
  await app.sql("insert into tickets (user_id, title) values ($1, '2')", [person.user.id]);
  expect(await app.sql("select id from claim_deliveries()")).toHaveLength(1);
  expect(await app.sql("select id from claim_deliveries()")).toEqual([]);
  await pass();
  expect(titles("/endless")).toEqual(["1", "2"]);
});

test("a URL into the sender's network is refused, by address and by name", async () => {
  vi.stubEnv("WEBHOOKS_LOCAL", "");
  const { post, isPublic } = await import(`${folder}/backend/post.ts`);
  const { port } = receiver.address() as AddressInfo;
  const refused = "The URL leads to a private address.";
  for (const host of [
    "127.0.0.1",
    "0x7f.1",
    "2130706433",
    "localhost",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "169.254.169.254",
  ]) {
    await expect((async () => post(`https://${host}:${port}/`, {}, ""))(), host).rejects.toThrow(refused);
  }
  await expect((async () => post(at("/"), {}, ""))()).rejects.toThrow("must begin with https");
  for (const address of [
    "10.1.2.3",
    "100.64.0.1",
    "fd00::1",
    "fe80::1",
    "::",
    "64:ff9b::a00:1",
    "2002:a00:1::",
    "2001:0:1::",
  ]) {
    expect(isPublic(address), address).toBe(false);
  }
  for (const address of ["1.1.1.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"])
    expect(isPublic(address)).toBe(true);
  expect(got).toEqual([]);
});

test("owners read the secret and do not choose it", async () => {
  const { person, endpoints } = await customer("/d");
  await person.mutate(api.endpoints.update, { id: endpoints[0].id, secret: "mine", url: at("/e") });
  expect(await person.query(api.endpoints.get, { id: endpoints[0].id })).toMatchObject({
    secret: endpoints[0].secret,
    url: at("/e"),
  });
  await expect(person.mutate(api.endpoints.create, { url: "file:///etc/passwd" })).rejects.toMatchObject({
    status: 400,
  });
});

test("the linter has nothing against it", async () => expect(await lint()).toEqual([]));
