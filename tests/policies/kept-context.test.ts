// If this file fails, code that finds the context of another call reads, writes, or changes an account, as the user of that call.
import { beforeAll, expect, test } from "vitest";
import { createSvcHttpRouteBuilders } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";

const httpRoute = createSvcHttpRouteBuilders();

// biome-ignore lint/suspicious/noExplicitAny: the mistake under test is made without types
const kept: any = {};
const keep = procedure.mutation.name("kept.keep").handler(({ context }) => {
  Object.assign(kept, { context, db: context.db });
});
const hold = procedure.mutation.name("kept.hold").handler(async ({ context }) => {
  Object.assign(kept, { context, db: context.db });
  const before = await context.db.$count(notes);
  kept.isHeld();
  await kept.end;
  return (await context.db.$count(notes)) - before;
});
/** Its call waits for the nested transaction after the handler has returned. */
const leave = procedure.mutation.name("kept.leave").handler(({ context }) => {
  Object.assign(kept, { context, db: context.db });
  void context.db.transaction(async (nested) => {
    kept.isHeld();
    await kept.end;
    await nested.select().from(notes);
  });
});
const uses: Record<string, () => Promise<unknown>> = {
  "context.db": () => kept.db.select().from(notes),
  "context.db.insert": () => kept.db.insert(notes).values({ title: "of another", userId: ann.id }),
  "context.db.transaction": () => kept.db.transaction((nested: typeof kept) => nested.select().from(notes)),
  "context.rag": () => kept.context.rag.section(crypto.randomUUID()),
  "context.read": () => kept.context.read((db: typeof kept) => db.select().from(notes)),
  "context.grounding": () =>
    kept.context.grounding.stream({ question: "Who?", scope: { corpus: "all", visibility: "public" }, mode: "qa" }),
  "context.storage": () => kept.context.storage.storeBuffer(new Uint8Array(1), "a", "text/plain"),
  "context.scheduler": () => kept.context.scheduler.runAfter(0, "kept.job"),
  "context.rateLimit": () => kept.context.rateLimit("kept", { calls: 1, per: "1 hour" }),
  "context.realtime": async () => kept.context.realtime.invalidate("notes.list"),
  "context.auth": () => kept.context.auth.setPassword("another password"),
  "context.auth.getSession": async () => kept.context.auth.getSession(),
  "context.auth.requireAuth": async () => kept.context.auth.requireAuth(),
};
const use = procedure.mutation
  .name("kept.use")
  .allowAnonymous()
  .handler(() => uses[kept.which]?.());
const job = procedure.internal.name("kept.job").handler(() => {});
const pages = httpRoute.get.path("/api/kept-pages").handler(({ context }) => {
  async function* all() {
    for (const _ of "two") yield `${(await context.read((db) => db.select().from(notes))).length}`;
  }
  return { body: all() };
});

const db = database();
const app = service(db, apiWith({ procedures: { kept: { keep, hold, leave, use, job } }, httpRoutes: { pages } }));
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  await app.mutate(ann, "notes.create", { title: "hers" });
});

test.for(Object.keys(uses))("%s refuses in another call, once its own has ended", async (which) => {
  kept.which = which;
  expect((await app.mutate(ann, "kept.keep")).status).toBe(200);
  for (const caller of [null, await app.signUp("bob")]) {
    const { status, body } = await app.mutate(caller, "kept.use");
    expect(body).toMatchObject({ code: "INTERNAL" });
    expect(status).toBe(500);
  }
  expect(app.logged.at(-1)).toMatch(/call ha[sd] ended|used in another call/);
  expect((await app.post("/api/auth/sign-in", { email: ann.email, password: "correct horse" })).status).toBe(200);
});

test.for(
  Object.keys(uses).flatMap((which) => [
    [which, "runs", "kept.hold"],
    [which, "waits for what its handler has not awaited", "kept.leave"],
  ]),
)("%s refuses in another call, while its own %s", async ([which, , name]) => {
  kept.which = which;
  const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
  const { promise: end, resolve } = Promise.withResolvers<void>();
  Object.assign(kept, { isHeld: held, end });
  const first = app.mutate(ann, name as string);
  await isHeld;
  for (const caller of [null, await app.signUp("bob"), ann]) {
    const { status, body } = await app.mutate(caller, "kept.use");
    expect(body).toMatchObject({ code: "INTERNAL" });
    expect(status).toBe(500);
    expect(app.logged.at(-1)).toContain("used in another call");
  }
  resolve();
  expect((await first).status).toBe(200);
  expect((await app.post("/api/auth/sign-in", { email: ann.email, password: "correct horse" })).status).toBe(200);
});

test("realtime refuses where nobody would send the message: after the end of its call", async () => {
  await app.mutate(ann, "kept.keep");
  expect(() => kept.context.realtime.invalidate("notes.list")).toThrow();
});

test("a stream of the call still reads after its end, as its caller", async () => {
  const headers = { authorization: `Bearer ${ann.token}` };
  expect((await app.fetch("/api/kept-pages", { headers })).body).toBe("111");
});
