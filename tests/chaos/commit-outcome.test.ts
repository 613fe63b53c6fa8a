// If this file fails, a saved mutation is answered as not saved, so that a client repeats it; or a lost one is answered
// as saved.
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSvcHttpRouteBuilders, v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { type Cut, CuttingProxy } from "../support/cutting-proxy.ts";
import { type Database, database } from "../support/database.ts";
import { bytesFolder, bytesIdOf } from "../support/files.ts";
import { type Answer, apiWith, bearer, TestService, type User } from "../support/service.ts";

const titled = v.object({ title: v.string() });
const later = procedure.internal
  .name("outcome.later")
  .input(titled)
  .handler(() => {});
const write = procedure.mutation
  .name("outcome.write")
  .input(titled)
  .handler(async ({ context, input: { title } }) => {
    const { user } = context.auth.requireAuth();
    await context.db.insert(notes).values({ title, userId: user.id });
    context.realtime.invalidate("notes.list");
    context.realtime.invalidate("notes.get");
    await context.scheduler.runAfter(86_400_000, "outcome.later", { title });
    return { title };
  });
/** Its first statement is sent just before COMMIT. */
const announces = procedure.mutation
  .name("outcome.announces")
  .input(titled)
  .handler(({ context, input: { title } }) => {
    void context.scheduler.runAfter(86_400_000, "outcome.later", { title });
    return { title };
  });
const store = procedure.mutation
  .name("outcome.store")
  .input(titled)
  .handler(({ context, input: { title } }) => context.storage.store(new Blob(["a file"]), title));
const route = createSvcHttpRouteBuilders()
  .post.path("/api/outcome")
  .input(titled)
  .handler(async ({ context, input: { title } }) => {
    await context.db.insert(notes).values({ title, userId: context.auth.requireAuth().user.id });
    return { status: 201, body: { title } };
  });

const db = database();
const folder = bytesFolder();
const api = apiWith({ procedures: { write, announces, store, later }, httpRoutes: { route } });
/** COMMIT in the simple protocol, with its length. */
const commit = "Q\0\0\0\x0bcommit\0";
let proxy: CuttingProxy;
let svc: TestService;
let ann: User;

beforeAll(async () => {
  proxy = await CuttingProxy.start(db.url("request"));
  svc = new TestService({ urls: { ...db.urls, request: proxy.url } } as Database, api, {
    pool: { request: 4 },
    storage: { driver: "disk", dir: folder },
  });
  await svc.start();
  ann = await svc.signUp("ann");
  expect((await graphql("{ __typename }")).status).toBe(200); // reads the catalog, in a transaction
});
afterAll(async () => {
  await svc?.stop();
  await proxy?.stop();
});
beforeEach(() => {
  proxy.cut = undefined;
  proxy.refuses = false;
});

const countOf = async (text: string, title: string) => Number((await db.sql(text, [title]))[0]?.count);
const inNotes = (title: string) => countOf("select count(*) from notes where title = $1", title);
const inArticles = (title: string) => countOf("select count(*) from articles where title = $1", title);
const inQueue = (title: string) =>
  countOf("select count(*) from graphile_worker._private_jobs where payload #>> '{args,title}' = $1", title);

interface Door {
  call(title: string): Promise<Answer>;
  /** Counts the rows and jobs of each kind that it leaves. */
  left(title: string): Promise<number[]>;
}
const graphql = (query: string) => svc.post("/api/graphql", { query }, ann);
const headers = () => ({ "content-type": "application/json", ...bearer(ann) });
const handlers: Record<string, Door> = {
  "a handler that writes, announces and schedules": {
    call: (title) => svc.mutate(ann, "outcome.write", { title }),
    left: async (title) => [await inNotes(title), await inQueue(title)],
  },
  "a handler that schedules alone": {
    call: (title) => svc.mutate(ann, "outcome.announces", { title }),
    left: async (title) => [await inQueue(title)],
  },
  "a route": {
    call: (title) => svc.fetch("/api/outcome", { method: "POST", headers: headers(), body: JSON.stringify({ title }) }),
    left: async (title) => [await inNotes(title)],
  },
  "a generated mutation with a hook": {
    call: (title) => svc.mutate(ann, "hooked.create", { title }),
    left: async (title) => [await inArticles(title)],
  },
  // With a directive: a plain document is one statement, without COMMIT (src/graphql/plain-document.ts).
  GraphQL: {
    call: (title) => graphql(`mutation { createNote(input: { title: "${title}" }) { id title @include(if: true) } }`),
    left: async (title) => [await inNotes(title)],
  },
};
const codeOf = ({ status, body }: Answer) =>
  status < 300 ? "saved" : (body.code ?? body.errors?.[0]?.extensions.code ?? String(status));

/** Calls through a cut, and compares the answer with the database. @returns the answer's code */
async function cutCall({ call, left }: Door, when: Cut, at = commit): Promise<string> {
  const title = crypto.randomUUID();
  const { cuts } = proxy;
  proxy.cut = { at, when };
  const calling = call(title);
  // The service queries over a new connection, which is not cut.
  let early: Answer | undefined;
  calling.then(
    (answer) => {
      early = answer;
    },
    () => {},
  );
  while (proxy.cuts === cuts && !early) await sleep(1);
  expect(proxy.cuts, `not cut: ${JSON.stringify(early)}`).toBeGreaterThan(cuts);
  proxy.cut = undefined;
  const answer = await calling;
  const code = codeOf(answer);
  // A transaction without an answer ends on the server a moment later.
  const isOpen =
    "select from pg_stat_activity where datname = current_database() and usename = 'svc_request' and state <> 'idle'";
  await expect.poll(() => db.sql(isOpen)).toEqual([]);
  const there = await left(title);
  if (code === "saved") expect(there).toEqual(there.map(() => 1));
  if (code === "UNAVAILABLE") expect(there).toEqual(there.map(() => 0));
  if (when === "after") expect(there).toEqual(there.map(() => 1)); // the cut was where it should be
  if (when === "before") expect(there).toEqual(there.map(() => 0));
  if (code === "OUTCOME_UNKNOWN") expect(answer.headers.get("retry-after")).toBeNull();
  return code;
}

describe.each(Object.entries(handlers))("%s, cut off from the database", (_what, door) => {
  test("before COMMIT arrives is told that nothing was saved", async () => {
    for (let round = 0; round < 8; round++) expect(await cutCall(door, "before")).toBe("UNAVAILABLE");
  });
  test("when COMMIT has been answered is told that it was saved", async () => {
    for (let round = 0; round < 8; round++) expect(await cutCall(door, "after")).toBe("saved");
  });
  test("while COMMIT is under way is told what became of it", async () => {
    for (let round = 0; round < 15; round++) {
      expect(["saved", "UNAVAILABLE"]).toContain(await cutCall(door, "during"));
    }
  });
});

describe("a generated mutation, one statement that is its own transaction,", () => {
  const door: Door = {
    call: (title) => svc.mutate(ann, "notes.create", { title }),
    left: async (title) => [await inNotes(title)],
  };
  test.each<Cut>(["before", "during", "after"])("cut off %s it is told that nobody knows", async (when) => {
    for (let round = 0; round < 8; round++) {
      expect(await cutCall(door, when, "notes_create")).toBe("OUTCOME_UNKNOWN");
    }
  });
});

test("a call that the database goes away from, and does not come back to, is told that nobody knows", async () => {
  proxy.cut = { at: commit, when: "after" };
  const { cuts } = proxy;
  const title = crypto.randomUUID();
  const calling = svc.mutate(ann, "outcome.write", { title });
  while (proxy.cuts === cuts) await sleep(1);
  proxy.refuses = true;
  const answer = await calling;
  expect(answer).toMatchObject({ status: 500, body: { code: "OUTCOME_UNKNOWN", hint: expect.any(String) } });
  expect(answer.headers.get("retry-after")).toBeNull();
});

test("a file of such a call keeps its bytes, because its row may be there", async () => {
  proxy.cut = { at: commit, when: "after" };
  const { cuts } = proxy;
  const calling = svc.mutate(ann, "outcome.store", { title: "unknown.txt" });
  while (proxy.cuts === cuts) await sleep(1);
  proxy.refuses = true;
  expect((await calling).body).toMatchObject({ code: "OUTCOME_UNKNOWN" });
  const [row] = await db.sql("select id from svc.storage_objects where name = 'unknown.txt'");
  const bytes = await bytesIdOf(db, String(row?.id));
  expect(readdirSync(folder, { recursive: true }).some((path) => String(path).endsWith(bytes))).toBe(true);
});

test("hundreds of writes while backends are terminated: what is acknowledged is there, what is refused is not", async () => {
  const rounds = process.env.CHAOS_ROUNDS ? 5_000 : 300;
  const seen = new Map<string, number>();
  const wrong: string[] = [];
  let next = 0;
  const writer = async () => {
    while (next++ < rounds) {
      const title = crypto.randomUUID();
      const name = next % 2 ? "outcome.write" : "notes.create";
      const code = codeOf(await svc.mutate(ann, name, { title }));
      const count = await inNotes(title);
      if (code === "saved" ? count !== 1 : code === "UNAVAILABLE" ? count !== 0 : true)
        wrong.push(`${name} ${code} ${count}`);
      seen.set(code, (seen.get(code) ?? 0) + 1);
    }
  };
  const killer = async () => {
    const admin = await db.connect("admin");
    while (next < rounds) {
      await sleep(20);
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where usename = 'svc_request' and datname = current_database() and state <> 'idle' limit 1`,
      );
    }
  };
  await Promise.all([killer(), ...Array.from({ length: 6 }, writer)]);
  expect(wrong).toEqual([]);
  expect([...seen.keys()].sort()).toEqual(["UNAVAILABLE", "saved"]); // some were cut, and none of them was in doubt
}, 300_000);
