// If this file fails, valid definitions are refused, or change definitions that were derived from them.
import { integer, pgTable, serial, text } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { DriftError } from "../../src/crud/fingerprints.ts";
import { createSvc, defineApi, v } from "../../src/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";
import { api, ask, at, createCrud, httpRoute, open, procedure, schema } from "./builders.ts";

describe("what is no mistake", () => {
  const ownNames = (made: ReturnType<typeof defineApi>) =>
    [...made["~svc"].procedures.keys()].filter((name) => !name.startsWith("workflows."));
  test.for(["a", "_a", "tasks.openCount", "a.b.c_1", "x".repeat(128)])("the name %s", (name) => {
    expect(ownNames(defineApi({ procedures: { a: ask(name) } }))).toEqual([name]);
  });
  test.for(["/a", "/api/a", "/api/queryx", "/wsx", "/:a/:b", "/a.json", "/a/~b/c-d_e", "/.well-known/x"])(
    "the path %s",
    (path) => {
      expect(defineApi({ httpRoutes: { a: at(path) } })["~svc"].routes).toMatchObject([{ path, verb: "get" }]);
    },
  );
  test("one path with two verbs, and a parameter beside a word", () => {
    const { routes } = defineApi({ httpRoutes: { a: at("/x/:id"), b: at("/x/:id", "post"), c: at("/x/new") } })["~svc"];
    expect(routes).toHaveLength(3);
  });
  test("one table under two prefixes, nested or not, and an API of nothing", () => {
    const bags = {
      procedures: {
        notes: createCrud(notes),
        mine: createCrud(notes, { prefix: "mine", defaultLimit: 10_000, maxLimit: 10_000 }),
      },
    };
    expect(ownNames(defineApi(bags))).toHaveLength(10);
    expect(defineApi(bags)["~svc"].crud.map(({ prefix }) => prefix)).toEqual(["notes", "mine"]);
    expect(defineApi({})["~svc"]).toMatchObject({ routes: [], crud: [] });
  });
  test("what createCrud returns, registered in parts, beside other procedures, or in both bags", () => {
    const crud = createCrud(notes);
    const methods = (bags: object) => api(bags)["~svc"].crud.map(({ prefix, methods }) => [prefix, ...methods]);
    const all = ["notes", "list", "get", "create", "update", "remove"];
    expect(methods({ procedures: { notes: { ...crud, count: ask("notes.count") } } })).toEqual([all]);
    expect(methods({ procedures: { get: crud.get, x: { list: crud.list } } })).toEqual([["notes", "list", "get"]]);
    expect(methods({ crud: { notes: crud }, procedures: { notes: crud } })).toEqual([all]);
    const beside = api({ crud: { notes: crud }, procedures: { notes: { count: ask("notes.count") } } });
    expect(ownNames(beside)).toEqual([...all.slice(1).map((method) => `notes.${method}`), "notes.count"]);
  });
  test("a procedure without a name, which has that of its place", () => {
    const count = () => procedure.query.handler(() => 1);
    expect(ownNames(defineApi({ procedures: { count: count(), notes: { count: count() } } }))).toEqual([
      "count",
      "notes.count",
    ]);
  });
  test("the builders that createSvc returns", () => {
    const svc = createSvc({ schema: { notes } });
    const made = defineApi({
      procedures: { notes: svc.createCrud(notes), count: svc.procedure.query.handler(() => 1) },
      httpRoutes: { feed: svc.httpRoute.get.path("/feed").handler(() => ({ body: "" })) },
    });
    expect(ownNames(made)).toContain("count");
    expect(made["~svc"]).toMatchObject({ routes: [{ path: "/feed" }], crud: [{ prefix: "notes" }] });
  });
  test("an id that nothing makes, of a resource that creates nothing", () => {
    const seats = pgTable("seats", { id: integer("id").primaryKey() }, open);
    expect(createCrud(seats, { methods: ["list", "get"] })).toHaveProperty("list");
  });
  test("a table without userId, createdAt and updatedAt", () => {
    expect(createCrud(pgTable("t", { id: serial("id").primaryKey(), a: text("a") }, open))).toHaveProperty("create");
  });
});

describe("a builder", () => {
  test("is not changed by what is built from it", async () => {
    const base = procedure.query.name("base").input(v.object({ n: v.number() }));
    const trace: string[] = [];
    const traced = (name: string) =>
      base
        .use(({ next }) => {
          trace.push(name);
          return next();
        })
        .handler(({ input }) => input.n);
    const plain = base
      .name("plain")
      .allowAnonymous()
      .output(z.string())
      .handler(() => "x");
    const [one, two] = [traced("one"), traced("two")];
    const run = (p: typeof one | typeof plain) =>
      p["~svc"].procedure.run({ context: {} as never, input: { n: 1 }, outcome: {} });
    await run(plain);
    expect(trace).toEqual([]);
    expect(await run(one)).toBe(1);
    expect(trace).toEqual(["one"]);
    expect(one["~svc"].procedure).toMatchObject({ name: "base", anonymous: false, output: undefined });
    expect(two["~svc"].procedure.name).toBe("base");
    expect(plain["~svc"].procedure).toMatchObject({ name: "plain", anonymous: true });
  });
  test("of a route neither", () => {
    const base = httpRoute.post.path("/base");
    base
      .allowAnonymous()
      .path("/other")
      .input(schema)
      .output(schema)
      .handler(() => ({}) as never);
    expect(base.handler(() => ({}))["~svc"].route).toMatchObject({
      path: "/base",
      anonymous: false,
      output: undefined,
    });
  });
});

describe("a service whose database has other functions or columns than the definitions", () => {
  const db = database();
  test("does not start without the migration of a column that its functions use already", async () => {
    await db.sql("alter table notes rename column priority to urgency");
    await expect(new TestService(db, apiWith(), {}).start()).rejects.toThrow(
      "The database does not have these columns of the schema:\n  notes.priority\n  Run `svc migrate generate`,",
    );
    await db.sql("alter table notes rename column urgency to priority");
  });
  test("does not start, and says what to run", async () => {
    const api = apiWith({ procedures: { more: createCrud(notes, { prefix: "more_notes" }) as never } });
    await db.sql("comment on function svc_crud.notes_get(integer) is 'One row. svc:0000000000000000'");
    const error = await new TestService(db, api, {}).start().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DriftError);
    expect((error as Error).message.split("\n")).toEqual([
      "The database does not have the CRUD functions of these definitions:",
      "  svc_crud.notes_get(integer) is different",
      "  svc_crud.more_notes_resource() is missing",
      "  svc_crud.more_notes_list(jsonb) is missing",
      "  svc_crud.more_notes_get(integer) is missing",
      "  svc_crud.more_notes_get(integer, jsonb) is missing",
      "  svc_crud.more_notes_create(jsonb) is missing",
      "  svc_crud.more_notes_update(integer, jsonb) is missing",
      "  svc_crud.more_notes_remove(integer) is missing",
      "  Run `svc codegen`, `svc migrate generate` if a table changed, and `svc migrate`. To serve anyway during a rolling deploy: --allow-drift",
    ]);
    await expect
      .poll(() =>
        db.sql("select from pg_stat_activity where datname = current_database() and application_name like 'svc %'"),
      )
      .toEqual([]);
  });
});
