/**
 * Once per run: a private cluster, and in it the template that each test file clones. The template holds the platform
 * and the fixture application, migrated by the code under test.
 */
import { rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";
import { openCluster } from "../../src/cluster/open-cluster.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { clone, execute, inDatabase, platformName, templateName } from "./admin.ts";
import { openMemory } from "./memory.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Connection strings by login role; they name the maintenance database. */
    urls: {
      request: string;
      system: string;
      auth: string;
      admin: string;
      replication: string;
      studioRead: string;
      studioAct: string;
    };
    /** The version of the server under test, for example 15.18. */
    serverVersion: string;
    /** pgvector's version, or null if it is not available. */
    vector: string | null;
  }
}

export const root = resolve(import.meta.dirname, "../..");

/** Writes the fixture's generated files. Its SQL is not in git, because it follows from the definitions. */
async function generateFixture(): Promise<void> {
  const { default: api } = await import("../fixture/backend/index.ts");
  const schema = await import("../fixture/backend/schema.ts");
  const { loadConfig } = await import("../../src/config/load-config.ts");
  const { codegen } = await import("../../src/codegen/codegen.ts");
  await codegen(await loadConfig({ cwd: join(root, "tests/fixture"), env: {} }), { api, auth: {}, schema });
}

/** Drops templates of @svc/testing, which leaves them on external servers. */
async function dropTemplatesOfApplications(admin: string): Promise<void> {
  const [found] = await execute(admin, "select datname from pg_database where datname ~ '^svc_template_[0-9a-f]{16}$'");
  for (const { datname } of found?.rows ?? []) await execute(admin, `drop database if exists ${datname}`);
}

/**
 * Compiling modules is half of the start of a worker, or of a command in a test, so it is cached. The cache is emptied
 * once a day, because it also collects modules of the applications that tests create.
 */
function compileCache(): string {
  const folder = join(root, ".svc/compile-cache");
  const begun = statSync(folder, { throwIfNoEntry: false })?.birthtimeMs ?? 0;
  if (Date.now() - begun > 86_400_000) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  return folder;
}

/** Whether the server compiles every statement that allows it, for `SVC_TEST_JIT=1`. */
const compiles = process.env.SVC_TEST_JIT === "1";

export async function setup(project: TestProject) {
  const generated = generateFixture(); // meanwhile PostgreSQL starts and migrates the platform
  generated.catch(() => {}); // reported where it is awaited
  // Workers inherit the variable, and so find the same template.
  process.env.SVC_TEST_RUN = String(process.pid);
  process.env.NODE_COMPILE_CACHE ??= compileCache();
  // The data need not survive a power cut, and cloning a template is mostly disk work.
  const settings = {
    fsync: "off",
    full_page_writes: "off",
    max_connections: "300",
    max_wal_senders: "50",
    max_replication_slots: "50",
    max_prepared_transactions: "5",
    // The default settings, but for every statement regardless of its cost.
    ...(compiles && { jit: "on", jit_above_cost: "0" }),
  };
  // The two kinds of server may differ in version and settings, so each has its own cluster.
  const name = `test-${process.env.SVC_POSTGRES || "auto"}${compiles ? "-jit" : ""}`;
  const open = (more: Record<string, string>) =>
    openCluster({ directory: join(root, ".svc"), name, shared: true, settings: { ...settings, ...more } });
  // Loaded if the server has it; it only counts when a test turns it on.
  const statistics = { shared_preload_libraries: "pg_stat_statements", "pg_stat_statements.track": "none" };
  const cluster = await open(statistics).catch(() => open({}));
  process.stderr.write(`PostgreSQL ${cluster.serverVersion}: ${cluster.reason}\n`);

  const { admin } = cluster.urls;
  const memory = process.env.DATABASE_URL ? null : await openMemory(admin);
  // A clone lies where its template does.
  await execute(admin, `create database ${platformName()}${memory ? ` tablespace ${memory.name}` : ""}`);
  await migrate({ adminUrl: inDatabase(admin, platformName()), platform: root });
  await clone(admin, templateName(), platformName());
  await generated;
  await migrate({
    adminUrl: inDatabase(admin, templateName()),
    platform: root,
    application: join(root, "tests/fixture"),
  });
  project.provide("urls", {
    ...cluster.urls,
    studioRead: cluster.studio?.read ?? "",
    studioAct: cluster.studio?.act ?? "",
  });
  project.provide("serverVersion", cluster.serverVersion);
  project.provide("vector", cluster.vector);
  return async () => {
    for (const name of [templateName(), platformName()]) await execute(admin, `drop database ${name} with (force)`);
    await dropTemplatesOfApplications(admin);
    await memory?.close();
    await cluster.stop();
  };
}
