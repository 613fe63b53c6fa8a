// If this file fails, an application that the audit refuses is generated, migrated and served all the same.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadApp } from "../../src/app/load-app.ts";
import { auditApplication } from "../../src/audit/audit.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { DefinitionError } from "../../src/kit/definition-error.ts";
import { root } from "../support/global-setup.ts";

let folder: string;
beforeAll(async () => {
  // Inside the project, where @svc/core resolves.
  await mkdir(join(root, ".svc"), { recursive: true });
  folder = await mkdtemp(join(root, ".svc/audit-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const runtime = `
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls } from "@svc/core";
import { pgTableCreator, serial } from "drizzle-orm/pg-core";
export const procedure = createSvcProcedureBuilders();
export const createCrud = createCrudFactory(procedure);
`;
const allow = "/* svc-allow: reason: a total; scope: one number; owner: data team; test: tests/total.test.ts */";
const total = (comment: string) => `${runtime}
${comment}
export const total = procedure.query.name("tasks.total").allowAnonymous().handler(({ context }) => {
  return context.unsafeDb.select();
});
export default defineApi({ procedures: { total } });
`;

/** Writes an application and gives its folder. */
async function application(name: string, index: string, files: Record<string, string> = {}): Promise<string> {
  const cwd = join(folder, name);
  for (const [path, content] of Object.entries({ "backend/index.ts": index, ...files })) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), content);
  }
  return cwd;
}

async function svc(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(root, "src/cli/svc.ts"), ...args], { env: { ...process.env, ...env } });
  const code = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const output = await text(child.stderr);
  return { code: await code, output };
}

const load = async (cwd: string) => loadApp(await loadConfig({ cwd, env: {} }));

describe("the commands", () => {
  test("codegen refuses an anonymous handler with unsafeDb, and says where and what to do", async () => {
    const { code, output } = await svc(["codegen", "--cwd", await application("refused", total(""))]);
    expect(code, output).toBe(1);
    expect(output).toContain("The audit of anonymous handlers refuses one place:");
    expect(output).toContain("backend/index.ts:9:10");
    expect(output).toContain("tasks.total: uses unsafeDb");
    expect(output).toContain("`context.unsafeDb`");
    expect(output).toContain("/* svc-allow: reason: …; scope: …; owner: …; test: path/to/test */");
    expect(output).not.toContain("    at "); // an explained mistake needs no stack
    expect(output).not.toContain("ExperimentalWarning");
  });

  test("codegen accepts it with a complete comment, and refuses it again without the test", async () => {
    const cwd = await application("allowed", total(allow), { "tests/total.test.ts": "" });
    const accepted = await svc(["codegen", "--cwd", cwd]);
    expect(accepted.code, accepted.output).toBe(0);
    await rm(join(cwd, "tests/total.test.ts"));
    const refused = await svc(["codegen", "--cwd", cwd]);
    expect(refused.code).toBe(1);
    expect(refused.output).toContain("lacks the file tests/total.test.ts that test names");
  });

  test("start refuses it in production, before it asks for a database", async () => {
    const nowhere = "postgres://nobody@127.0.0.1:1/none";
    const env = { NODE_ENV: "production", AUTHLIB_SECRET: "x".repeat(40), DATABASE_URL: nowhere };
    const { code, output } = await svc(["start", "--cwd", await application("production", total(""))], env);
    expect(code, output).toBe(1);
    expect(output).toContain("tasks.total: uses unsafeDb");
  });
});

describe("what is registered and not found in the source", () => {
  test("a procedure whose chain cannot be read is refused by its name", async () => {
    const cwd = await application(
      "hidden",
      `${runtime}
const step = ["allowAnonymous"] as const;
const base = procedure.query.name("tasks.hidden");
const hidden = base[step[0]]().handler(({ context }) => context.unsafeDb.select());
export default defineApi({ procedures: { hidden } });
`,
    );
    await expect(load(cwd)).rejects.toThrow(DefinitionError);
    await expect(load(cwd)).rejects.toThrow(/tasks\.hidden: cannot be audited: it is registered/);
  });

  test("generated CRUD whose options cannot be read is refused by its prefix", async () => {
    const table = `pgTableCreator((name) => name)("notes", { id: serial("id").primaryKey() }, () => openRls({ read: "anyone", write: "nobody" }))`;
    const index = `${runtime}
const makers = [createCrud];
const notes = makers.map((make) => make(${table}, JSON.parse('{"allowAnonymous":true}')))[0];
export default defineApi({ procedures: { notes } });
`;
    await expect(load(await application("hidden-crud", index))).rejects.toThrow(
      /createCrud\(notes\): cannot be audited/,
    );
  });

  test("a runtime table whose name is made while running is refused", async () => {
    const schema = `import { pgTableCreator, serial } from "drizzle-orm/pg-core";
const make = pgTableCreator((name) => ["_system", name].join("_"));
export const jobs = make("jobs", { id: serial("id").primaryKey() });
`;
    const index = `${runtime}\nexport default defineApi({});\n`;
    const cwd = await application("runtime-table", index, { "backend/schema.ts": schema });
    await expect(load(cwd)).rejects.toThrow(/the runtime table "_system_jobs" is modelled/);
  });
});

test.for(["examples/desk", "tests/fixture"])("%s is in order, and all that it registers is found", async (path) => {
  const config = await loadConfig({ cwd: join(root, path), env: {} });
  const app = await loadApp(config);
  const options = { root: config.cwd, rootDir: config.rootDir, schemaFiles: config.schema };
  expect(await auditApplication({ ...options, app })).toEqual([]);
  // The same registrations over another source: each of them is missed.
  const elsewhere = await application(`other-${path.replace("/", "-")}`, "export {};\n");
  const missed = await auditApplication({ ...options, rootDir: join(elsewhere, "backend"), schemaFiles: [], app });
  expect(missed.map(({ handler }) => handler)).toContain("createCrud(guestbook)");
});
