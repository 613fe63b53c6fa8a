// Common mistakes of new authors. Each message has to say what is wrong, where, and how to fix it.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Database, database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database("template1");
const migrated = database("template1");
let folder: string;

const good = {
  "backend/schema.ts": `
import { ownerRls } from "@svc/core";
import { pgTable, serial, text } from "drizzle-orm/pg-core";
export const notes = pgTable("notes", { id: serial("id").primaryKey(), userId: text("user_id").notNull() },
  (t) => ownerRls(t.userId));`,
  "backend/runtime.ts": `
import { createCrudFactory, createSvcProcedureBuilders } from "@svc/core";
export const procedure = createSvcProcedureBuilders();
export const createCrud = createCrudFactory(procedure);`,
  "backend/index.ts": `
import { defineApi } from "@svc/core";
import { createCrud } from "./runtime.ts";
import { notes } from "./schema.ts";
export default defineApi({ procedures: { notes: createCrud(notes) } });`,
};

beforeAll(() => mkdir(join(root, ".svc"), { recursive: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(root, ".svc/mistakes-")); // inside the project, where @svc/core resolves
  await write(good);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

interface Ended {
  code: number | null;
  output: string;
}

const urls = (target: Database) => ({
  DATABASE_URL: target.url("request"),
  DATABASE_SYSTEM_URL: target.url("system"),
  DATABASE_AUTH_URL: target.url("auth"),
  DATABASE_ADMIN_URL: target.url("admin"),
  DATABASE_REPLICATION_URL: target.url("replication"),
});

/** Runs `svc` in the folder. @param env overrides a working DATABASE_URL */
function svc(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(process.execPath, [join(root, "src/cli/svc.ts"), ...args], {
    cwd: folder,
    env: { ...process.env, PORT: "0", ...urls(db), ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  // Not "exit": output may follow that event.
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

/** An explained mistake: exit code 1, every part of the message, and none of our stack frames. */
function expectExplained({ code, output }: Ended, ...parts: (string | RegExp)[]): void {
  for (const part of parts) expect(output).toMatch(part);
  expect(output).not.toMatch(/^\s+at /m);
  expect(code).toBe(1);
}

test("without a mistake there is no message", async () => {
  const { code, output } = await svc(["codegen"]);
  expect(output).toBe(
    "wrote backend/generated/auth-schema.ts\nwrote sql/crud/notes.sql\nwrote sql/realtime.sql\nwrote sql/search.sql\nwrote backend/generated/ai.ts\nwrote backend/generated/db.ts\nwrote web/svc/api.ts\n",
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
      "a table without policies",
      { "backend/schema.ts": good["backend/schema.ts"].replace("ownerRls(t.userId)", "[]") },
      ["backend/index.ts:5:49", 'table "notes" declares no policy', "ownerRls(t.userId)"],
    ],
    [
      "a name that is not defined",
      { "backend/index.ts": `${procedure}export default defineApi({ procedures: { a: proceduer } });` },
      ["backend/index.ts:3:45", "ReferenceError: proceduer is not defined"],
    ],
    [
      "a slip of the keyboard",
      { "backend/index.ts": `${procedure}export default defineApi({ procedures: { a: };` },
      ["backend/index.ts:3", "export default defineApi({ procedures: { a: };", /SyntaxError/],
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
    await rm(join(folder, "backend"), { recursive: true });
    expectExplained(await svc(["codegen"]), /There is no .*backend\/index\.ts/, "set rootDir in svc.config.ts");
  });

  test("a secret that is too short", async () => {
    expectExplained(await svc(["codegen"], { AUTHLIB_SECRET: "short" }), "AUTHLIB_SECRET", "at least 32 characters");
  });
});

describe("in the surroundings", () => {
  test("migrations that are not applied", async () => {
    expectExplained(await svc(["start"]), /The database lacks \d+ files/, "svc migrate");
  });

  test("a database that is down", async () => {
    const url = "postgres://svc:secret@127.0.0.1:9/app";
    const ended = await svc(["migrate"], {
      DATABASE_URL: url,
      DATABASE_SYSTEM_URL: "",
      DATABASE_AUTH_URL: "",
      DATABASE_ADMIN_URL: "",
      DATABASE_REPLICATION_URL: "",
    });
    expectExplained(ended, "DATABASE_URL", "127.0.0.1:9");
    expect(ended.output).not.toContain("secret");
  });

  test.runIf(process.platform === "linux")(
    "a port that is taken: by which process, and the next free one",
    async () => {
      expect((await svc(["prepare"])).code).toBe(0);
      const blocker = createServer().listen(0);
      const { port } = blocker.address() as { port: number };
      try {
        const ended = await svc(["start"], { PORT: String(port) });
        // The next free port may be taken by the next check, so its number is not compared.
        expectExplained(
          ended,
          `Port ${port} is taken by `,
          `process ${process.pid}.`,
          /Take the next free one: PORT=\d+/,
        );
        expect(Number(/PORT=(\d+)/.exec(ended.output)?.[1])).toBeGreaterThan(port);
      } finally {
        blocker.close();
      }
    },
  );

  test.runIf(process.platform === "linux")("a port of the page that is taken", async () => {
    const blocker = createServer().listen(0);
    const { port } = blocker.address() as { port: number };
    const config = `{ frontendOrigins: ["http://localhost:${port}"] }`;
    await write({
      "svc.config.ts": `import { defineConfig } from "@svc/core";\nexport default defineConfig(${config});`,
    });
    try {
      expectExplained(
        await svc(["dev", "--with", "true"]),
        `Port ${port} is taken by `,
        `process ${process.pid}.`,
        /another port in frontendOrigins of svc\.config\.ts: http:\/\/localhost:\d+ is free\./,
      );
    } finally {
      blocker.close();
    }
  });

  test("a variable whose name is misspelt", async () => {
    expectExplained(
      await svc(["codegen"], { AUTHLIB_URI: "http://localhost:4000" }),
      "environment: AUTHLIB_URI: is not a variable of svc; did you mean AUTHLIB_URL?",
    );
  });

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
    await svc(["prepare"], urls(migrated)),
    /application\/migrations\/0001_create_notes\.sql:\d+: relation "nowhere" does not exist/,
    "migrations/0001_create_notes.sql and migrations/meta/0001_snapshot.json were deleted again. Correct the schema;",
  );
  await write({ "backend/schema.ts": view("public.notes") });
  const { code, output } = await svc(["prepare"], urls(migrated));
  expect(code, output).toBe(0);
  expect(output).toContain("applied migrations/0001_create_notes.sql");
}, 60_000);

test("two migrations of one number are refused when the next one is generated", async () => {
  await write({ "migrations/0007_ours.sql": "select 1;", "migrations/0007_theirs.sql": "select 2;" });
  expectExplained(
    await svc(["migrate", "generate"]),
    "migrations/0007_ours.sql and migrations/0007_theirs.sql have the same number.",
    "Rename the one that has not been applied anywhere, such as to 0008_theirs.sql.",
  );
});
