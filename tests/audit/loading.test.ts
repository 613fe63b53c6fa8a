// If this file fails, an application that the audit refuses is still generated, migrated or served.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadApp } from "../../src/app/load-app.ts";
import { definitionOf } from "../../src/audit/definitions.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { DefinedAt } from "../../src/contract/defined-at.ts";
import { DefinitionError } from "../../src/kit/definition-error.ts";
import { applicationFolder, writeFiles } from "../support/application-folder.ts";
import { runHere } from "../support/cli.ts";
import { root } from "../support/global-setup.ts";

let folder: string;
beforeAll(async () => {
  folder = await applicationFolder();
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

/** Writes an application and returns its folder. */
async function application(name: string, index: string, files: Record<string, string> = {}): Promise<string> {
  const cwd = join(folder, name);
  await writeFiles(cwd, { "backend/index.ts": index, ...files });
  return cwd;
}

async function svc(args: string[], env: Record<string, string> = {}) {
  const { code, error } = await runHere(args, env);
  return { code, output: error };
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

describe("what only the loaded application shows", () => {
  test("a procedure whose chain no text shows is found by its definition", async () => {
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
    await expect(load(cwd)).rejects.toThrow(/index\.ts:9:57\n {4}tasks\.hidden: uses unsafeDb/);
  });

  test("a handler that a package defines is refused by its name", async () => {
    const made = `import { createSvcProcedureBuilders } from "@svc/core";
export const made = await Promise.resolve().then(() =>
  createSvcProcedureBuilders().query.name("made.elsewhere").allowAnonymous().handler(() => 1));
`;
    const index = `${runtime}import { made } from "some-package";\nexport default defineApi({ procedures: { made } });\n`;
    const cwd = await application("packaged", index, {
      "node_modules/some-package/package.json": '{ "type": "module", "exports": "./index.js" }',
      "node_modules/some-package/index.js": made,
    });
    await expect(load(cwd)).rejects.toThrow(
      /backend\/index\.ts:1:1\n {4}made\.elsewhere: cannot be audited: it is registered/,
    );
  });

  test("a runtime table whose name is made while running is refused", async () => {
    const schema = `import { pgTableCreator, serial } from "drizzle-orm/pg-core";
const make = pgTableCreator((name) => ["_system", name].join("_"));
export const jobs = make("jobs", { id: serial("id").primaryKey() });
`;
    const index = `${runtime}\nexport default defineApi({});\n`;
    const cwd = await application("runtime-table", index, { "backend/schema.ts": schema });
    await expect(load(cwd)).rejects.toThrow(/schema\.ts:3:21\n {4}the runtime table "_system_jobs" is modelled/);
  });
});

test.for(["examples/desk", "tests/fixture"])("%s is in order, and all that it registers is found", async (path) => {
  const app = await load(join(root, path));
  const { procedures, routes } = app.api["~svc"];
  const anonymous = [...procedures.values(), ...routes].filter((one) => one.anonymous);
  expect(anonymous.length).toBeGreaterThan(0);
  for (const { definedAt } of anonymous) {
    const { sites } = definitionOf(definedAt as DefinedAt);
    const [made] = sites.map(({ file, node }) => file.text.slice(node.start, node.end));
    expect(made).toMatch(/\.handler\(|^createCrud\(/);
  }
});

test("an auth.ts that was not made by defineAuth is checked as if it was", async () => {
  const auth = "export default { emailAndPasword: { enabled: false } };";
  const cwd = await application("plain", `${runtime}\nexport default defineApi({});`, { "backend/auth.ts": auth });
  await expect(load(cwd)).rejects.toThrow(/defineAuth: "emailAndPasword" is not a known key/);
});
