// If this file fails, a mistake in an application's definitions causes an unclear error at run time, or none.
import { integer, pgTable } from "drizzle-orm/pg-core";
import { test } from "vitest";
import { cron, v } from "../../src/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { api, ask, at, createCrud, expectTold, httpRoute, type Mistake, open, procedure, schema } from "./builders.ts";

const finish = "End it with .handler(…).";
const makeOne = "Make it with procedure.query, procedure.mutation, procedure.internal or createCrud.";

const mistakes: Mistake[] = [
  [
    "a procedure without a name, in a place that cannot be one",
    () => api({ procedures: { "open-count": procedure.query.handler(() => 1) } }),
    '"open-count" cannot be the name of a procedure.',
    'Use words of letters from a to z, digits and _ joined by dots, such as "tasks.openCount"; at most 128 characters.',
  ],
  [
    "a procedure without a name that only a cron has",
    () =>
      api({
        crons: {
          c: cron
            .name("c")
            .daily({ hour: 3 })
            .handler(procedure.internal.handler(() => {})),
        },
      }),
    'The procedure of the cron "c" has no name.',
    'Register it under procedures, or call .name("module.operation") on it.',
  ],
  [
    "a procedure without a name in two places",
    () => {
      const count = procedure.query.handler(() => 1);
      return api({ procedures: { a: count, b: count } });
    },
    'Two procedures are named "a"; the second is procedures.b.',
    "Give one of them another .name(), or its createCrud() another { prefix }.",
  ],
  [
    "a route without a path",
    () => httpRoute.patch.handler(() => ({})),
    "A patch route has no path.",
    'Call .path("/api/…") on it first.',
  ],
  [
    "a second .input() of a procedure",
    () =>
      procedure.mutation
        .name("a.b")
        .input(schema)
        .use(({ next }) => next())
        .input(schema),
    'The procedure "a.b" declares .input() twice.',
    "Join the two schemas into one.",
  ],
  [
    "a second .input() of a route",
    () => httpRoute.post.path("/a").input(schema).input(schema),
    "The route /a declares .input() twice.",
    "Join the two schemas into one.",
  ],
  [
    "a map of validators for a schema",
    () => procedure.query.name("a.b").input({ id: v.number() } as never),
    'The procedure "a.b": .input() takes a Standard Schema, and got an object.',
    "Write v.object({ … }), or a schema of zod, valibot or arktype.",
  ],
  [
    "an .output() that is none",
    () => httpRoute.get.path("/a").output(undefined as never),
    "The route /a: .output() takes a Standard Schema, and got nothing.",
    "Write v.object({ … }), or a schema of zod, valibot or arktype.",
  ],
  [
    "a middleware that is not there yet",
    () => httpRoute.get.path("/a").use(undefined as never),
    "The route /a: .use() takes a function, and got nothing.",
    "Look for a circular import: a value imported in a circle is undefined here.",
  ],
  [
    "a handler that is none",
    () => procedure.mutation.name("a.b").handler({} as never),
    'The procedure "a.b": .handler() takes a function, and got an object.',
    "Look for a circular import: a value imported in a circle is undefined here.",
  ],
  [
    "an internal procedure for strangers",
    () => procedure.internal.name("a.b").allowAnonymous(...([] as unknown as [never])),
    'The internal procedure "a.b" cannot .allowAnonymous().',
    'Leave it out: it runs as the user who scheduled it, signed in or not. .runAs("system") bypasses row-level security.',
  ],
  [
    "two parameters of one name",
    () => httpRoute.get.path("/a/:id/b/:id"),
    '"/a/:id/b/:id" has two parameters ":id".',
    "Give one of them another name: request.params holds one value for each.",
  ],
  [
    "two procedures of one name",
    () => api({ procedures: { a: ask("x.y"), b: { c: ask("x.y") } } }),
    'Two procedures are named "x.y"; the second is procedures.b.c.',
    "Give one of them another .name(), or its createCrud() another { prefix }.",
  ],
  [
    "two createCruds of one prefix",
    () => api({ procedures: { a: createCrud(notes), b: createCrud(notes) } }),
    'Two procedures are named "notes.list"; the second is procedures.b.list.',
    "Give one of them another .name(), or its createCrud() another { prefix }.",
  ],
  [
    "two prefixes that differ in the case of letters",
    () => api({ procedures: { a: createCrud(notes), b: createCrud(notes, { prefix: "Notes" }) } }),
    'The prefixes "notes" and "Notes" of createCrud differ only in upper and lower case.',
    "Their SQL functions would have the same names. Give one of them another { prefix }.",
  ],
  [
    "a builder without a handler",
    () => api({ procedures: { a: procedure.query.name("x.y") } }),
    'procedures.a ("x.y") is not finished.',
    finish,
  ],
  [
    "a nested builder without anything",
    () => api({ procedures: { a: { b: procedure.query } } }),
    "procedures.a.b is not finished.",
    finish,
  ],
  [
    "a route builder without a handler",
    () => api({ httpRoutes: { a: httpRoute.get.path("/a") } }),
    "httpRoutes.a is not finished.",
    finish,
  ],
  [
    "a function for a procedure",
    () => api({ procedures: { a: () => 1 } }),
    "procedures.a is not a procedure.",
    makeOne,
  ],
  [
    "undefined for a procedure",
    () => api({ procedures: { a: undefined } }),
    "procedures.a is not a procedure.",
    makeOne,
  ],
  ["null for a procedure", () => api({ procedures: { a: null } }), "procedures.a is not a procedure.", makeOne],
  ["text for a procedure", () => api({ procedures: { a: "tasks.list" } }), "procedures.a is not a procedure.", makeOne],
  [
    "a nested number for a procedure",
    () => api({ procedures: { a: { b: 7 } } }),
    "procedures.a.b is not a procedure.",
    makeOne,
  ],
  ["a route for a procedure", () => api({ procedures: { a: at("/a") } }), "procedures.a is not a procedure.", makeOne],
  [
    "a list of procedures",
    () => api({ procedures: { a: [ask("x.y")] } }),
    "procedures.a is a list.",
    "Make it a record: clients call a procedure by its key.",
  ],
  [
    "procedures nested too deep",
    () => api({ procedures: { a: { b: { c: ask("x.y") } } } }),
    "procedures.a.b is a folder inside a folder.",
    "Procedures are nested one level deep. For a longer name, call .name() on the procedure.",
  ],
  [
    "parts of two createCruds of one prefix",
    () => api({ procedures: { list: createCrud(notes).list, get: createCrud(notes, { columns: { pick: [] } }).get } }),
    'Two createCrud have the prefix "notes".',
    "Their SQL functions would have the same names. Give one of them another { prefix }.",
  ],
  [
    "one createCrud twice",
    () => {
      const crud = createCrud(notes);
      return api({ procedures: { notes: crud, list: crud.list } });
    },
    'Two procedures are named "notes.list"; the second is procedures.list.',
    "Give one of them another .name(), or its createCrud() another { prefix }.",
  ],
  [
    "an id that nothing makes",
    () => createCrud(pgTable("seats", { id: integer("id").primaryKey() }, open)),
    'createCrud: the id of table "seats" has no default, so create cannot insert a row.',
    "Give it one, as serial() and .$defaultFn(…) do, or leave create out of { methods }.",
  ],
  [
    "a procedure for a route",
    () => api({ httpRoutes: { a: ask("x.y") } }),
    "httpRoutes.a is not a route.",
    "Make it with httpRoute.get and so on.",
  ],
  [
    "undefined for a route",
    () => api({ httpRoutes: { a: undefined } }),
    "httpRoutes.a is not a route.",
    "Make it with httpRoute.get and so on.",
  ],
  [
    "an unknown bag",
    () => api({ procedure: {} }),
    'defineApi does not know "procedure".',
    "It takes procedures, channels, httpRoutes, crons, webhooks, workflows and grounding.",
  ],
  [
    "two routes of one verb and shape",
    () => api({ httpRoutes: { a: at("/x/:id"), b: at("/x/:name") } }),
    "httpRoutes.b and httpRoutes.a both take get /x/:name.",
    "Only the first could ever answer. Change one of the paths.",
  ],
  ...["", "a b", "a..b", ".a", "a.", "1a", "a.1", "a-b", "ä", "a/b", "x".repeat(129)].map(
    (name): Mistake => [
      `the name ${name}`,
      () => ask(name),
      `"${name}" cannot be the name of a procedure.`,
      'Use words of letters from a to z, digits and _ joined by dots, such as "tasks.openCount"; at most 128 characters.',
    ],
  ),
  ...[
    "",
    "a",
    "/",
    "/a/",
    "//a",
    "/a//b",
    "/a b",
    "/:",
    "/:1",
    "/a/*",
    "/a?b",
    "/a(b)",
    "/{a}",
    "/a:b",
    "/ä",
    "/%41",
  ].map(
    (path): Mistake => [
      `the path ${path}`,
      () => at(path),
      `"${path}" cannot be the path of a route.`,
      'Start with "/", and make each segment plain text or a parameter such as ":id".',
    ],
  ),
  ...[
    ["/api/query", "/api/query"],
    ["/api/mutation", "/api/mutation"],
    ["/api/auth/sign-in", "/api/auth"],
    ["/api/storage/:id", "/api/storage"],
    ["/api/realtime", "/api/realtime"],
    ["/api/graphql", "/api/graphql"],
    ["/ws", "/ws"],
    ["/healthz", "/healthz"],
    ["/readyz", "/readyz"],
    ["/metrics/x", "/metrics"],
    ["/openapi.json", "/openapi.json"],
    ["/openapi", "/openapi"],
    ["/_studio/x", "/_studio"],
    ["/API/Query", "/api/query"],
    ["/Healthz", "/healthz"],
  ].map(
    ([path = "", builtIn]): Mistake => [
      `the reserved path ${path}`,
      () => api({ httpRoutes: { a: at(path, "post") } }),
      `httpRoutes.a: ${path} collides with the built-in ${builtIn}.`,
      "Choose another path.",
    ],
  ),
];

test.for(mistakes)("%s is told, with what to write instead", ([, ...mistake]) => expectTold(...mistake));
