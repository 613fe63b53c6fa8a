// If this file fails, a stream that a user has opened still sends rows after the user was signed out or deleted.
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { createSvcHttpRouteBuilders } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";
import { until } from "../support/worker.ts";
import { entries, entriesSql, procedures } from "../transfer/entries.ts";

const db = database();
beforeAll(() => db.sql(entriesSql));
const { get } = createSvcHttpRouteBuilders<{ entries: typeof entries }>();
let reads = 0;
const pieces = async function* (read: () => Promise<number>) {
  for (;;) {
    yield `${await read()}\n`;
    reads++;
    await sleep(20);
  }
};
const following = get
  .path("/api/following")
  .handler(({ context }) => ({ body: pieces(() => context.read((own) => own.$count(entries))) }));
const asWebStream = get.path("/api/web-stream").handler(({ context }) => ({
  body: Readable.toWeb(Readable.from(pieces(() => context.read((own) => own.$count(entries))))) as ReadableStream,
}));
const text = get.path("/api/text").handler(async ({ context }) => {
  await db.sql("delete from auth.session where user_id = $1", [context.auth.requireAuth().user.id]);
  await sleep(300);
  return { body: "complete" };
});
const late = get.path("/api/late").handler(async ({ context }) => {
  await db.sql("delete from auth.session where user_id = $1", [context.auth.requireAuth().user.id]);
  await sleep(300);
  return { body: pieces(async () => 1) };
});
const app = service(db, apiWith({ procedures, httpRoutes: { following, asWebStream, text, late } }));

const begin = async (path: string, user: User) => {
  const { body } = await fetch(`${app.url}${path}`, { headers: bearer(user) });
  const reader = body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  expect((await reader.read()).done).toBe(false);
  return async () => {
    for (;;) if ((await reader.read()).done) return;
  };
};

const endings: [how: string, end: (user: User) => Promise<unknown>][] = [
  [
    "a sign-out",
    ({ sessionToken }) =>
      app.fetch("/api/auth/sign-out", { method: "POST", headers: { authorization: `Bearer ${sessionToken}` } }),
  ],
  ["a deletion of the user by SQL", ({ id }) => db.sql('delete from auth."user" where id = $1', [id])],
];

describe.each(endings)("%s", (_how, end) => {
  test.each(["/api/following", "/api/web-stream"])(
    "cuts the stream of %s, and nothing is read any more",
    async (path) => {
      const [ann, bob] = [await app.signUp("ann"), await app.signUp("bob")];
      const rest = await begin(path, ann);
      const other = await begin(path, bob);
      await end(ann);
      await expect(rest()).rejects.toThrow();
      await end(bob);
      await expect(other()).rejects.toThrow();
      await sleep(100);
      const before = reads;
      await sleep(200);
      expect(reads).toBe(before);
    },
  );

  test("cuts an export", async () => {
    const ann = await app.signUp("ann");
    await db.sql(
      "insert into entries (user_id, slug, body) select $1, $1 || n, repeat('x', 500000) from generate_series(1, 60) as n",
      [ann.id],
    );
    app.logged.length = 0;
    const rest = await begin("/api/export/entries.ndjson", ann);
    await end(ann);
    await until(async () => app.logged.some((line) => line.includes("entries.export")));
    await expect(rest()).rejects.toThrow();
    expect(app.logged.find((line) => line.includes("entries.export"))).toContain("UNAUTHORIZED");
  });
});

test("a change of the user's row cuts nothing, and an answer that is no stream is completed", async () => {
  const ann = await app.signUp("ann");
  const rest = await begin("/api/following", ann);
  await db.sql(`update auth."user" set name = 'Anna' where id = $1`, [ann.id]);
  const before = reads;
  await until(async () => reads > before + 20);
  // After this process has missed notices, the sessions are looked up.
  const listener =
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name";
  expect(await db.sql(`${listener} = 'svc revocations'`)).toHaveLength(1);
  const then = reads;
  await until(async () => reads > then + 60);
  const bob = await app.signUp("bob");
  expect(await app.fetch("/api/text", { headers: bearer(bob) })).toMatchObject({ status: 200, body: "complete" });
  await db.sql("truncate auth.session");
  await expect(rest()).rejects.toThrow();
});

test("a stream that begins after its session has ended is cut", async () => {
  const ann = await app.signUp("ann");
  await expect(app.fetch("/api/late", { headers: bearer(ann) })).rejects.toThrow();
});
