/** A small application with every feature that OpenAPI has to describe. */
import { type } from "arktype";
import * as valibot from "valibot";
import { z } from "zod";
import { createSvcHttpRouteBuilders, defineApi, SvcError, v } from "../../src/index.ts";
import { procedures as blog, blogSql } from "../crud/blog.ts";
import { crud, procedure } from "../fixture/backend/index.ts";

const route = createSvcHttpRouteBuilders();

/** A recursive type: its schema refers to itself. */
const Tree = z.object({
  label: z.string(),
  get children() {
    return z.array(Tree).optional();
  },
});

/** Tables with relations, which the fixture does not have. */
export const relatedSql = blogSql;

const procedures = {
  ...blog,
  notes: crud.notes,
  samples: crud.samples,
  guestbook: crud.guestbook,
  articles: crud.articles,
  flags: crud.flags,
  readOnly: crud.readOnly,
  uncounted: crud.uncounted,
  sum: procedure.query
    .name("sums.add")
    .allowAnonymous()
    .input(v.object({ a: v.number(), b: v.optional(v.number()), more: v.optional(v.array(v.number())) }))
    .output(z.object({ sum: z.number() }))
    .handler(({ input }) => ({ sum: input.a + (input.b ?? 0) })),
  tree: procedure.mutation
    .name("trees.plant")
    .allowAnonymous()
    .input(z.object({ tree: Tree, when: z.coerce.date().optional() }))
    .output(Tree)
    .handler(({ input }) => input.tree),
  moment: procedure.query
    .name("times.next")
    .input(z.object({ after: z.date(), steps: z.bigint().optional() }))
    .output(z.object({ at: z.date(), count: z.bigint(), names: z.set(z.string()) }))
    .handler(({ input }) => ({ at: new Date(input.after.getTime() + 1), count: 1n, names: new Set(["a"]) })),
  ark: procedure.query
    .name("foreign.ark")
    .allowAnonymous()
    .input(type({ size: "1 <= number.integer <= 9", "note?": "string" }))
    .handler(({ input }) => input.size),
  valibot: procedure.query
    .name("foreign.valibot")
    .allowAnonymous()
    .input(valibot.object({ word: valibot.string() }))
    .handler(({ input }) => input.word),
  attach: procedure.mutation
    .name("files.measure")
    .allowAnonymous()
    .input(v.object({ file: v.file(), note: v.optional(z.string().max(20)) }))
    .handler(({ input }) => ({ size: input.file.size })),
  bare: procedure.mutation.name("bare").handler(() => {}),
  refused: procedure.mutation
    .name("sums.refuse")
    .allowAnonymous()
    .handler(() => {
      throw new SvcError("CONFLICT", "Not now.");
    }),
  secret: procedure.internal
    .name("hidden.work")
    .input(v.object({ hush: v.string() }))
    .handler(() => 1),
};

const httpRoutes = {
  hello: route.get
    .path("/api/hello/:name")
    .allowAnonymous()
    .input(z.object({ times: z.coerce.number().int().min(1).max(5).default(1) }))
    .output(z.object({ hello: z.string() }))
    .handler(({ input, request }) => ({ body: { hello: request.params.name.repeat(input.times) } })),
  page: route.get
    .path("/api/page")
    .allowAnonymous()
    .handler(() => ({ body: "text" })),
  hook: route.post
    .path("/api/hooks/:from")
    .allowAnonymous()
    .handler(async ({ request }) => ({ status: 202, body: { length: (await request.text()).length } })),
  put: route.put
    .path("/api/things/:id")
    .input(v.object({ value: v.number() }))
    .output(v.object({ value: v.number() }))
    .handler(({ input }) => ({ body: { value: input.value } })),
  patch: route.patch
    .path("/api/things/:id")
    .input(z.object({ value: z.number().optional() }))
    .handler(() => ({ status: 204 })),
  remove: route.delete.path("/api/things/:id").handler(() => ({})),
};

export const api = defineApi({ procedures, httpRoutes });
