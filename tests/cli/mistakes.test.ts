// Common mistakes of new authors. Each message has to say what is wrong, where, and how to fix it.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { expectExplained, good, mistakenApp } from "./mistaken-app.ts";

const db = database("platform");
const migrated = database("platform");
const app = mistakenApp(db);
const { svc, write } = app;

test("without a mistake there is no message", async () => {
  const { code, output } = await svc(["codegen"]);
  expect(output).toBe(
    "wrote backend/generated/auth-schema.ts\nwrote backend/generated/ai.ts\nwrote sql/crud/notes.sql\nwrote sql/realtime.sql\nwrote sql/search.sql\nwrote backend/generated/db.ts\nwrote web/svc/api.ts\n",
  );
  expect(code).toBe(0);
});

describe("in the definitions", () => {
  const procedure = `import { defineApi } from "@svc/core";\nimport { procedure } from "./runtime.ts";\n`;

  test.each<[string, Record<string, string>, (string | RegExp)[]]>([
    ["no index.ts", { "backend/index.ts": "" }, [/The default export of .*index\.ts is not an API\./, "defineApi"]],
    [
      "a wrong export",
      { "backend/index.ts": "export const api = {};" },
      [/The default export of .*index\.ts is not an API\./, "export default defineApi"],
    ],
    [
      "an enum, which Node does not compile",
      { "backend/index.ts": "enum Kind { A }\nexport default Kind;" },
      ["backend/index.ts:1", "an object `as const`"],
    ],
    [
      "a procedure as a call",
      { "backend/index.ts": `${procedure}export default procedure.query({ args: {}, handler: () => 1 });` },
      ["backend/index.ts:3:26", "procedure.query.input(v.object({ … })).handler(async ({ context, input }) => …)"],
    ],
    [
      "a validator that v does not have",
      { "backend/index.ts": `import { v } from "@svc/core";\nexport default v.object({ a: v.null() });` },
      ["backend/index.ts:2:36", "For others take a schema of zod, valibot or arktype, also inside v.object."],
    ],
    [
      "a query of a database that has no such function",
      { "backend/index.ts": `const db = { query: {} } as any;\nexport default db.query("notes");` },
      [/^(?![\s\S]*is built in steps)[\s\S]*db\.query is not a function/],
    ],
    [
      "a v of the application that has no such function",
      { "backend/index.ts": "export default [1 as any].map((v) => v.id());" },
      [/^(?![\s\S]*v of svc has)[\s\S]*v\.id is not a function/],
    ],
    [
      "createSvc without a schema",
      {
        "backend/runtime.ts": `import { createSvc } from "@svc/core";
import * as schema from "./schema.ts";
export const { procedure, createCrud } = createSvc({ schem: schema });`,
      },
      ["backend/runtime.ts:3:42", "createSvc: schema: must be all exports of schema.ts", '"schem" is not a known key'],
    ],
    [
      "createSvc with one table",
      {
        "backend/runtime.ts": `import { createSvc } from "@svc/core";
import { notes } from "./schema.ts";
export const { procedure, createCrud } = createSvc({ schema: notes });`,
      },
      ["backend/runtime.ts:3:42", "createSvc: schema: must be all exports of schema.ts"],
    ],
    [
      "policies that are not returned",
      { "backend/schema.ts": good["backend/schema.ts"].replace("ownerRls(t.userId)", "{ ownerRls(t.userId); }") },
      [
        "backend/schema.ts: Return",
        'The third argument of table "notes" returns nothing.',
        "return ownerRls(t.userId)",
      ],
    ],
    [
      "the name of a column in place of the column",
      { "backend/schema.ts": good["backend/schema.ts"].replace("ownerRls(t.userId)", 'ownerRls("user_id")') },
      ["backend/schema.ts:5:10", 'ownerRls got no column, but "user_id".'],
    ],
    [
      "two procedures of one name",
      {
        "backend/index.ts": `${procedure}
const a = procedure.query.name("x.y").handler(() => 1);
const b = procedure.query.name("x.y").handler(() => 2);
export default defineApi({ procedures: { a, b } });`,
      },
      ["backend/index.ts:6:16", 'Two procedures are named "x.y"; the second is procedures.b.', "another .name()"],
    ],
    [
      "a missing .handler",
      { "backend/index.ts": `${procedure}export default defineApi({ procedures: { a: procedure.query.name("a") } });` },
      ["backend/index.ts:3:16", 'procedures.a ("a") is not finished.', "End it with .handler"],
    ],
    [
      "a table without id",
      { "backend/schema.ts": good["backend/schema.ts"].replace('id: serial("id")', 'number: serial("number")') },
      ["backend/index.ts:5:49", /createCrud: table "notes" must have an id column/],
    ],
    [
      "a name that is not defined",
      { "backend/index.ts": `${procedure}export default defineApi({ procedures: { a: proceduer } });` },
      ["backend/index.ts:3:45", "ReferenceError: proceduer is not defined"],
    ],
    [
      "files that import each other",
      {
        "backend/more.ts": `import { base } from "./base.ts";\nexport const more = base + 1;\nexport const deep = 1;`,
        "backend/base.ts": `import { deep } from "./more.ts";\nexport const base = deep;`,
        "backend/index.ts": 'import { base } from "./base.ts";\nexport default base;',
      },
      ["backend/more.ts:2:21", "base comes from ./base.ts, which imports this file, itself or through others. Move"],
    ],
    [
      "an import of a file that is not there",
      { "backend/index.ts": 'import { a } from "./missing.ts";\nexport default a;' },
      [/Cannot find module .*missing\.ts/, "Check the path and its ending"],
    ],
    [
      "an import of a name that is not there",
      { "backend/index.ts": 'import { defineAPI } from "@svc/core";\nexport default defineAPI({});' },
      ["backend/index.ts:1", /does not provide an export named 'defineAPI'/],
    ],
  ])("%s", async (_what, files, parts) => {
    await write(files);
    const ended = await svc(["codegen"]);
    for (const part of parts) expect(ended.output).toMatch(part);
    expect(ended.code).toBe(1);
  });
});

describe("in the configuration", () => {
  const config = (text: string) => ({
    "svc.config.ts": `import { defineConfig } from "@svc/core";\nexport default defineConfig(${text});`,
  });

  test.each<[string, string, string]>([
    ["an unknown key", "{ frontendOrigin: [] }", 'is not a known key. Did you mean "frontendOrigins"?'],
    ["a key of auth.ts", "{ oauth: {} }", '"oauth" belongs in auth.ts'],
    ["a bad origin", '{ frontendOrigins: ["https://a.test/"] }', "write https://a.test"],
    ["a wildcard", '{ frontendOrigins: ["https://*.a.test"] }', "has a wildcard; list every origin by itself"],
    ["a port that is none", '{ port: "4000" }', "port: must be a port number"],
  ])("%s", async (_what, text, part) => {
    await write(config(text));
    const ended = await svc(["codegen"]);
    expect(ended.output).toContain(part);
    expectExplained(ended, /svc\.config\.ts/);
  });

  test("a folder that is no application", async () => {
    await rm(join(app.folder, "backend"), { recursive: true });
    expectExplained(await svc(["codegen"]), /There is no .*backend\/index\.ts/, "set rootDir in svc.config.ts");
  });
});

describe("in the surroundings", () => {
  test("doctor finds them all at once, and says what to do", async () => {
    await write({ "backend/index.ts": "export default {};" });
    const { code, output } = await svc(["doctor", "--verbose"]);
    expect(code).toBe(1);
    expect(output).toMatch(/^wrong [\s\S]*^advice [\s\S]*^ok /m); // findings first
    expect(output).toMatch(/^ok +Node 24/m);
    expect(output).toMatch(/^wrong +The default export of .*index\.ts is not an API/m);
    expect(output).toMatch(/^advice +AUTHLIB_URL is not set/m);
    expect(output).toMatch(/database\.url: postgres:\/\/.*:\*\*\*@/);
  });

  test("doctor is content with an application that is ready", async () => {
    await svc(["prepare"]);
    const { code, output } = await svc(["doctor", "--verbose"], { AUTHLIB_URL: "http://localhost:4000" });
    expect(output).toMatch(/^ok +migrations\/ and sql\/ are applied/m);
    expect(output).toMatch(/^ok +the generated functions/m);
    expect(output).not.toMatch(/^wrong/m);
    expect(code).toBe(0);
    const short = await svc(["doctor"], { AUTHLIB_URL: "http://localhost:4000" });
    expect(short.output).toMatch(/^\d+ checks found nothing wrong; --verbose lists them and the configuration\.$/m);
    expect(short.output).not.toMatch(/^ok /m);
  });

  test("doctor names what to register at Google", async () => {
    const google = { GOOGLE_CLIENT_ID: "id", GOOGLE_CLIENT_SECRET: "secret" };
    const { output } = await svc(["doctor", "--verbose"], { AUTHLIB_URL: "https://api.example.com", ...google });
    expect(output).toMatch(/JavaScript origin https:\/\/api\.example\.com and/);
    expect(output).toMatch(/redirect URI https:\/\/api\.example\.com\/api\/auth\/callback\/google/);
  });

  test("doctor names what to register at other providers, and variables that are not set", async () => {
    const auth =
      'import { defineAuth } from "@svc/core";\nexport default defineAuth({ social: { github: {}, oidc: { acme: { issuer: "https://x.test" } } } });';
    await write({ "backend/auth.ts": auth });
    const github = { GITHUB_CLIENT_ID: "id", GITHUB_CLIENT_SECRET: "a-secret-of-github" };
    const { output } = await svc(["doctor", "--verbose"], { AUTHLIB_URL: "https://api.example.com", ...github });
    expect(output).toContain(
      "GitHub: its client needs the redirect URI https://api.example.com/api/auth/callback/github",
    );
    expect(output).toContain("acme: ACME_CLIENT_ID and ACME_CLIENT_SECRET are not both set.");
    expect(output).toContain("auth.clients.GITHUB_CLIENT_SECRET: ***");
    expect(output).not.toContain("a-secret-of-github");
  });

  test("a command that does not exist", async () => {
    const { code, output } = await svc(["strat"]);
    expect(output).toContain("unknown command 'strat'");
    expect(output).toContain("Did you mean start?");
    expect(code).toBe(1);
  });

  test("a group without a subcommand prints its help", async () => {
    const { code, output } = await svc(["crons"]);
    expect(output).toMatch(/^Usage: svc crons /);
    expect(output).toMatch(/^Commands:\n {2}list .*\n {2}run /m);
    expect(code).toBe(1);
  });

  test("svc init refuses a folder that holds something", async () => {
    expectExplained(await svc(["init", "."]), "is not empty", "Choose another folder");
  });
});

test("a generated migration that cannot be applied is not left standing", async () => {
  const schema = good["backend/schema.ts"].replace("pgTable,", "integer, pgTable, pgView,");
  const view = (source: string) =>
    `${schema}\nimport { sql } from "drizzle-orm";\nexport const seen = pgView("seen", { id: integer("id") }).as(sql.raw("select id from ${source}"));`;
  await write({ "backend/schema.ts": view("nowhere") });
  expectExplained(
    await svc(["prepare"], migrated.environment),
    /^migrations\/0001_create_notes\.sql:\d+: relation "nowhere" does not exist\n.*select id from nowhere/m,
    "migrations/0001_create_notes.sql and migrations/meta/0001_snapshot.json were deleted again. Correct the schema;",
  );
  await write({ "backend/schema.ts": view("public.notes") });
  await app.move();
  const { code, output } = await svc(["prepare"], migrated.environment);
  expect(code, output).toBe(0);
  expect(output).toContain("applied migrations/0001_create_notes.sql");
});

test.each([
  [
    "a table of another database",
    (text: string) => text.replace("pgTable,", "mysqlTable as pgTable,").replace("pg-core", "mysql-core"),
    'The column "id" of table "notes" is not one of PostgreSQL.',
  ],
  [
    "policies that are not returned",
    (text: string) => text.replace("ownerRls(t.userId)", "{ ownerRls(t.userId); }"),
    'The third argument of table "notes" returns nothing.',
  ],
])("svc migrate generate refuses %s, and does not take the table for dropped", async (_, change, message) => {
  await write({ "backend/schema.ts": change(good["backend/schema.ts"]) });
  expectExplained(await svc(["migrate", "generate"]), message);
});
