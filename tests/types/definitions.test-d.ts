/** If these fail, a handler sees `any`, or a client of the generated API compiles with arguments that are refused. */
import { sql } from "drizzle-orm";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { PathParams } from "../../src/contract/http-route.ts";
import { type Context, defineApi, type Middleware, type SvcRequest, v } from "../../src/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { createCrud, httpRoute, type Note, procedure, type TypesOf } from "./builders.ts";

describe("a procedure", () => {
  it("without schemas takes anything or nothing, and gives what its handler returns", () => {
    const p = procedure.query.name("a.b").handler(async ({ input }) => {
      expectTypeOf(input).toBeUnknown();
      return { n: 1 };
    });
    expectTypeOf<TypesOf<typeof p>>().toEqualTypeOf<{
      name: "a.b";
      kind: "query";
      input: undefined;
      output: { n: number };
    }>();
  });

  it("with v and zod keeps apart what is sent, seen, returned and given", () => {
    const p = procedure.mutation
      .name("a.c")
      .input(
        v.object({ n: v.number(), at: z.string().transform((text) => new Date(text)), note: v.optional(v.string()) }),
      )
      .output(z.object({ at: z.date().transform(String), m: z.number().default(1) }))
      .handler(({ input }) => {
        expectTypeOf(input).toEqualTypeOf<{ n: number; at: Date; note?: string | undefined }>();
        return { at: input.at };
      });
    type T = TypesOf<typeof p>;
    expectTypeOf<T["input"]>().toEqualTypeOf<{ n: number; at: string; note?: string | undefined }>();
    expectTypeOf<T["output"]>().toEqualTypeOf<{ at: string; m: number }>();
    expectTypeOf<T["kind"]>().toEqualTypeOf<"mutation">();
  });

  it("keeps what it knows through every step, in any order", () => {
    const p = procedure.internal
      .output(z.number())
      .use(({ next }) => next())
      .input(z.array(z.string()))
      .name("a.d")
      .handler(({ input }) => input.length);
    expectTypeOf<TypesOf<typeof p>>().toEqualTypeOf<{
      name: "a.d";
      kind: "internal";
      input: string[];
      output: number;
    }>();
  });

  it("does not compile when an internal procedure lets strangers in, whom it never meets", () => {
    // @ts-expect-error nobody calls it from outside
    expect(() => procedure.internal.allowAnonymous()).toThrow();
    procedure.query.allowAnonymous();
  });

  it("does not compile when the handler returns something else than .output() takes", () => {
    const numbers = procedure.query.name("a.e").output(z.object({ n: z.number() }));
    // @ts-expect-error text is no number
    numbers.handler(() => ({ n: "1" }));
    // @ts-expect-error nothing is no object
    numbers.handler(() => {});
    // @ts-expect-error nor is a promise of something else
    numbers.handler(async () => ({ m: 1 }));
    numbers.handler(async () => ({ n: 1 }));
  });

  it("does not compile with a schema that is none, or an input used as what it is not", () => {
    // @ts-expect-error a constructor is no schema
    procedure.query.name("a.f").input(String);
    const typed = procedure.query.name("a.g").input(v.object({ n: v.number() }));
    // @ts-expect-error the input has no such member
    typed.handler(({ input }) => input.m);
  });
});

describe("middleware", () => {
  const tenant: Middleware<{ tenant: string }> = ({ next }) => next({ context: { tenant: "acme" } });
  const plan: Middleware<{ plan: "free" | "pro" }> = ({ next }) => next({ context: { plan: "pro" } });

  it("adds to the context of what is declared after it", () => {
    procedure.query
      .name("m.a")
      .use(tenant)
      .use(plan)
      .handler(({ context }) => {
        expectTypeOf(context.tenant).toBeString();
        expectTypeOf(context.plan).toEqualTypeOf<"free" | "pro">();
        expectTypeOf(context.requestId).toBeString();
      });
    httpRoute.get
      .path("/m")
      .use(tenant)
      .handler(({ context }) => ({ body: expectTypeOf(context.tenant).toBeString() }));
  });

  it("does not compile where it adds something else, or where nobody added it", () => {
    // @ts-expect-error the tenant is text
    const wrong: Middleware<{ tenant: string }> = ({ next }) => next({ context: { tenant: 1 } });
    const planned = procedure.query.name("m.b").use(plan);
    // @ts-expect-error nobody added a tenant
    planned.handler(({ context }) => context.tenant);
    expectTypeOf(wrong).toBeFunction();
  });

  it("sees the input as unknown", () => {
    procedure.query
      .name("m.c")
      .input(z.number())
      .use(({ input, next }) => {
        expectTypeOf(input).toBeUnknown();
        return next();
      });
  });
});

describe("the context", () => {
  it("has the application's tables, and rows of their types", () => {
    procedure.query.name("c.a").handler(async ({ context }) => {
      expectTypeOf(await context.db.select().from(schema.notes)).toEqualTypeOf<Note[]>();
      expectTypeOf(await context.db.query.notes.findFirst()).toEqualTypeOf<Note | undefined>();
      expectTypeOf(context.auth.requireAuth().user.email).toBeString();
      expectTypeOf(context.auth.getSession()).extract<null>().toBeNull();
      await context.db.transaction(async (inner) => expectTypeOf(await inner.$count(schema.notes)).toBeNumber());
      await context.unsafeDb.execute(sql`select 1`);
    });
  });

  it("does not compile with raw SQL, unknown tables and unknown columns", () => {
    procedure.mutation.name("c.b").handler(async ({ context }: { context: Context<typeof schema> }) => {
      // @ts-expect-error raw SQL is not part of the request plane
      context.db.execute(sql`select 1`);
      // @ts-expect-error nor as text
      context.db.execute("select 1");
      // @ts-expect-error there is no such table
      context.db.query.tasks;
      // @ts-expect-error there is no such column
      context.db.select({ n: schema.notes.nothing }).from(schema.notes);
      // @ts-expect-error there is no such column
      context.db.insert(schema.guestbook).values({ message: "x", nothing: 1 });
      // @ts-expect-error the column is text
      context.db.update(schema.notes).set({ title: 1 });
      // @ts-expect-error a savepoint has no raw SQL either
      await context.db.transaction(async (inner) => inner.execute(sql`select 1`));
    });
  });
});

describe("a route", () => {
  it("knows its path parameters", () => {
    expectTypeOf<PathParams<"/api/a">>().toEqualTypeOf<Record<never, string>>();
    expectTypeOf<keyof PathParams<"/api/:a/b/:c_1">>().toEqualTypeOf<"a" | "c_1">();
    httpRoute.post.path("/api/notes/:id").handler(({ request, input }) => {
      expectTypeOf(request.params.id).toBeString();
      expectTypeOf(request.query).toEqualTypeOf<Record<string, string>>();
      expectTypeOf(input).toBeUnknown();
      // @ts-expect-error the path has no such parameter
      request.params.other;
      return { status: 204 };
    });
    const shared = (call: { request: SvcRequest }) => ({ body: call.request.params });
    for (const route of [httpRoute.get.path("/none"), httpRoute.get.path("/:a")])
      expectTypeOf(route.handler).toBeCallableWith(shared);
    expectTypeOf<SvcRequest["json"]>().returns.resolves.toBeUnknown();
  });

  it("checks body and input like a procedure; errors may have bodies of their own", () => {
    const checked = httpRoute.post
      .path("/api/x")
      .input(v.object({ n: v.number() }))
      .output(z.object({ ok: z.boolean() }));
    checked.handler(({ input }) => ({ body: { ok: expectTypeOf(input).toEqualTypeOf<{ n: number }>() } }));
    checked.handler(() => ({ status: 404, body: { reason: "gone" } }));
    // @ts-expect-error without a status it is the body of .output()
    checked.handler(() => ({ body: { ok: "yes" } }));
    // @ts-expect-error a status is a number
    checked.handler(() => ({ status: "404", body: { ok: true } }));
  });
});

describe("defineApi", () => {
  it("takes procedures, one level of nesting, and routes; nothing else", () => {
    const ping = procedure.query.name("ping").handler(() => 1);
    const hello = httpRoute.get.path("/hello").handler(() => ({ body: "hello" }));
    const api = defineApi({ procedures: { notes: createCrud(schema.notes), ping }, httpRoutes: { hello } });
    expectTypeOf<NonNullable<(typeof api)["~svc"]["types"]>["ping"]>().toEqualTypeOf<typeof ping>();
    // @ts-expect-error an unfinished procedure
    defineApi({ procedures: { ping: procedure.query.name("ping") } });
    // @ts-expect-error a route is no procedure
    defineApi({ procedures: { hello } });
    // @ts-expect-error a procedure is no route
    defineApi({ httpRoutes: { ping } });
    // @ts-expect-error nothing is no procedure
    defineApi({ procedures: { ping: undefined } });
  });
});
