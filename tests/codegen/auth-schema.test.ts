// If this file fails, trusted code has no table with which to change users, or a migration changes the platform's
// tables.
import { existsSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { organization, twoFactor, username } from "better-auth/plugins";
import { afterAll, describe, expect, test } from "vitest";
import { loadApp } from "../../src/app/load-app.ts";
import { authSchema } from "../../src/auth/auth-schema.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { AdditionalField, AuthDefinition } from "../../src/contract/auth.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { applicationFolder } from "../support/application-folder.ts";
import { noDatabase, runHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { secret } from "../support/service.ts";
import { leavePlatform, migrationsOf } from "./evolution.ts";

const files = {
  "svc.config.ts": "export default {};",
  "backend/auth.ts": `
import { defineAuth } from "@svc/core";
export default defineAuth({ user: { additionalFields: {
  role: { type: "text", default: "it's a member" },
  credit: { type: "integer", default: 3 },
  isBeta: { type: "boolean", default: false },
  trialEnds: { type: "timestamp", default: "now" },
} } });`,
  "backend/schema.ts": `
import { ownerRls } from "@svc/core";
import { pgTable, serial, text } from "drizzle-orm/pg-core";
import { user } from "./generated/auth-schema.ts";
export const tasks = pgTable("tasks", {
  id: serial("id").primaryKey(),
  userId: text("user_id").notNull().references(() => user.id, { onDelete: "cascade" }),
}, (t) => ownerRls(t.userId));`,
  "backend/index.ts": `
import { createSvcProcedureBuilders, defineApi } from "@svc/core";
import { eq } from "drizzle-orm";
import { user } from "./generated/auth-schema.ts";
import * as schema from "./schema.ts";
const procedure = createSvcProcedureBuilders<typeof schema>();
const me = procedure.query.name("me").handler(({ context }) => context.auth.requireAuth().user);
const promote = procedure.mutation.name("promote").handler(async ({ context: ctx }) => {
  const { id } = ctx.auth.requireAuth().user;
  await ctx.unsafeDb.update(user).set({ role: "admin", credit: 7 }).where(eq(user.id, id));
});
export default defineApi({ procedures: { me, promote } });`,
};

const db = database();
const folders: string[] = [];
afterAll(() => Promise.all(folders.map((path) => rm(path, { recursive: true, force: true }))));

async function application(changes: Record<string, string> = {}): Promise<string> {
  const path = await applicationFolder({ ...files, ...changes });
  folders.push(path);
  return path;
}

/** Runs `svc` without a database. */
async function svc(...args: string[]) {
  const { code, text } = await runHere(args, noDatabase);
  return { code, output: text };
}

const generated = "backend/generated/auth-schema.ts";

describe("svc codegen", () => {
  test("writes the file before it loads what imports it, and again only when something changed", async () => {
    const app = await application();
    const first = await svc("codegen", "--cwd", app);
    expect(first).toMatchObject({ code: 0, output: expect.stringContaining(`wrote ${generated}`) });
    expect(await svc("codegen", "--cwd", app)).toEqual({ code: 0, output: "Everything is up to date.\n" });

    await writeFile(join(app, generated), "export const user = 1;");
    expect((await svc("codegen", "--cwd", app)).output).toContain(`wrote ${generated}`);
    expect(await readFile(join(app, generated), "utf8")).toContain('role: text("role").default("it\'s a member"),');
  });

  test("writes the AI module before it loads what imports it", async () => {
    const index = `import { defineApi } from "@svc/core"; import { ai } from "./generated/ai.ts"; void ai; export default defineApi({});`;
    const app = await application({ "backend/index.ts": index });
    expect(await svc("codegen", "--cwd", app)).toMatchObject({
      code: 0,
      output: expect.stringContaining("wrote backend/generated/ai.ts"),
    });
    expect(await svc("codegen", "--cwd", app)).toEqual({ code: 0, output: "Everything is up to date.\n" });
  });

  test("leaves it to the application with codegen.authSchema: false", async () => {
    const own = `
import { pgSchema, text } from "drizzle-orm/pg-core";
export const user = pgSchema("auth").table("user", { id: text("id").primaryKey(), role: text("role") });`;
    const app = await application({
      "svc.config.ts": "export default { codegen: { authSchema: false } };",
      "backend/users.ts": own,
      "backend/schema.ts": `export * from "./users.ts";`,
      "backend/index.ts": `import { defineApi } from "@svc/core"; export default defineApi({});`,
    });
    expect(await svc("codegen", "--cwd", app)).toMatchObject({ code: 0 });
    expect(existsSync(join(app, "backend/generated/auth-schema.ts"))).toBe(false);
  });

  test.for<[string, string[]]>([
    ["codegen", ["codegen"]],
    ["migrate generate", ["migrate", "generate"]],
  ])("a re-export beside a fork is refused by %s, which names both", async ([, command]) => {
    const app = await application({
      "svc.config.ts": 'export default { schema: ["./backend/schema.ts", "./backend/people.ts"] };',
      "backend/schema.ts": 'export * from "./generated/auth-schema.ts";',
      "backend/people.ts": `
import { pgSchema, text } from "drizzle-orm/pg-core";
export const people = pgSchema("auth").table("user", { id: text("id").primaryKey() });`,
      "backend/index.ts": `import { defineApi } from "@svc/core"; export default defineApi({});`,
    });
    const { code, output } = await svc(...command, "--cwd", app);
    expect(code).toBe(1);
    expect(output).toContain(
      "two definitions of auth.user: user in backend/schema.ts, and people in backend/people.ts",
    );
    expect(output).toMatch(/generated\/auth-schema\.ts.*codegen\.authSchema: false/);
  });
});

test("a field is declared, migrated, seen in sessions, changed by trusted code, and in the next JWT", async () => {
  await leavePlatform(db);
  const app = await application();
  const { code, output } = await svc("migrate", "generate", "--cwd", app);
  expect(code, output).toBe(0);
  expect(output).toContain(`wrote ${generated}`);
  const [file = ""] = (await readdir(join(app, "migrations"))).filter((name) => name.endsWith(".sql"));
  const text = await readFile(join(app, "migrations", file), "utf8");
  expect(text).toContain("add column role text default 'it''s a member';");
  expect(text).toContain('REFERENCES "auth"."user"("id") ON DELETE cascade');
  expect(text).not.toMatch(/create table "?auth/i);
  expect((await svc("migrate", "generate", "--cwd", app)).output).toBe("Nothing to generate.\n");

  await migrate({ adminUrl: db.url("admin"), platform: root, application: app });
  const config = { ...(await loadConfig({ cwd: app, env: {} })), port: 0 };
  const service = await startService({
    app: await loadApp(config),
    config,
    urls: db.urls,
    secrets: [secret],
    log: createLog("silent"),
  });
  const call = async (path: string, body: unknown, token = "") => {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    return (await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) })).json();
  };
  const person = { email: "ann@example.com", password: "correct horse", name: "Ann" };
  const { token, sessionToken } = await call("/api/auth/sign-up", { ...person, role: "admin" });
  const me = async (jwt: string) => (await call("/api/query", { name: "me" }, jwt)).json;
  expect(await me(token)).toMatchObject({ role: "it's a member", credit: 3, isBeta: false, name: "Ann" });

  await call("/api/mutation", { name: "promote" }, token);
  const next = (await call("/api/auth/token", {}, sessionToken)).token;
  expect(await me(next)).toMatchObject({ role: "admin", credit: 7, isBeta: false });
  await service.stop();
});

describe("the file's text", () => {
  const withPlugins: AuthDefinition = {
    user: { additionalFields: { seen: { type: "timestamp", default: new Date("2026-01-02T03:04:05Z") } } },
    betterAuth: (defaults) => ({
      ...defaults,
      plugins: [twoFactor(), username(), organization({ teams: { enabled: true } })],
    }),
  };

  test("is the same for the same definition, and has plugins' tables and columns in snake_case", () => {
    const text = authSchema(withPlugins);
    expect(authSchema(withPlugins)).toBe(text);
    expect(text).toContain('export const twoFactor = auth.table("two_factor", {');
    expect(text).toContain('  backupCodes: text("backup_codes").notNull(),');
    expect(text).toContain('  twoFactorEnabled: boolean("two_factor_enabled").default(false),');
    expect(text).toContain('  activeTeamId: text("active_team_id"),');
    expect(text).toContain('.default(new Date("2026-01-02T03:04:05.000Z"))');
    expect(text).not.toContain("jwks");
  });

  test("refuses a declared field that a plugin has as a unique column: it would lose its index", () => {
    const declaring = (...names: string[]): AuthDefinition => ({
      ...withPlugins,
      user: { additionalFields: Object.fromEntries(names.map((name) => [name, { type: "text" }])) },
    });
    expect(() => authSchema(declaring("displayUsername", "username"))).toThrow(
      /^user\.additionalFields\.username of defineAuth\(\) is a unique column of a plugin of better-auth\./,
    );
    expect(authSchema(declaring("displayUsername"))).toContain('  displayUsername: text("display_username"),');
  });

  test("is TypeScript that makes the tables it says", async () => {
    const file = join(await application(), "all.ts");
    await writeFile(file, authSchema(withPlugins));
    const { getTableConfig } = await import("drizzle-orm/pg-core");
    const tables = await import(/* @vite-ignore */ file);
    const { columns, schema } = getTableConfig(tables.teamMember);
    expect([schema, columns.map(({ name }) => name)]).toEqual([
      "auth",
      ["id", "team_id", "user_id", "membership_key", "created_at"],
    ]);
    expect(getTableConfig(tables.teamMember).foreignKeys.map((key) => key.reference().foreignTable)).toEqual([
      tables.team,
      tables.user,
    ]);
  });
});

describe("a field whose type changes", () => {
  const schema = {};
  const of = (type: AdditionalField["type"]) => ({ schema, auth: { user: { additionalFields: { field: { type } } } } });

  test.for<[AdditionalField["type"], AdditionalField["type"]]>([
    ["timestamp", "integer"],
    ["integer", "timestamp"],
    ["timestamp", "boolean"],
    ["boolean", "timestamp"],
  ])("from %s to %s is refused, with a way out", async ([from, to]) => {
    await expect(migrationsOf(of(from), of(to))).rejects.toThrow(/auth\.user\.field .*cannot convert.*another name/s);
  });

  test("from text to integer is converted, and says what may be lost", async () => {
    const [, text] = await migrationsOf(of("text"), of("integer"));
    expect(text).toMatch(/-- Rewrites auth\."user"\.field from text to integer.*using field::integer/s);
  });
});
