/**
 * `createTestApp`: runs an application as in production, on its own database, in the process of a test file.
 * Next hop: `template.ts` for the database, `time.ts` for what waits in it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createAuthClient, createSvcClient, type Operations } from "@svc/client";
import {
  byNearness,
  createLog,
  type EffectiveConfig,
  type LoadedApp,
  loadApp,
  loadConfig,
  openDueJobs,
  runSeed,
  type Service,
  startService,
} from "@svc/core/internal";
import pg from "pg";
import { JobsFailed } from "./jobs-failed.ts";
import { Mailbox } from "./mailbox.ts";
import { openServer } from "./server.ts";
import { cloneDatabase } from "./template.ts";
import { passTime } from "./time.ts";
import type { NewTestUser, TestApp, TestUser } from "./types.ts";
import { explainUnawaited } from "./unawaited.ts";

export interface TestAppOptions<Api extends Operations> {
  /** The generated references, for typed calls. */
  api: Api;
  /** The application's folder. (Default: the process's) */
  cwd?: string | undefined;
  /**
   * Environment variables of the application, such as AUTHLIB_URL. The process's own are ignored, so that a test
   * behaves the same everywhere. (Default: none)
   */
  env?: Readonly<Record<string, string>> | undefined;
  /** Limits under test. Limits on sign-ins and requests are off otherwise. */
  limits?: Partial<EffectiveConfig["limits"]> | undefined;
  /** The level of the service's log on standard error, such as "info", or "silent". (Default: "error") */
  log?: string | undefined;
}

const secret = "a secret for tests, of thirty-two characters or more";

/** All test users share one address, and there may be hundreds. */
const noLimits = {
  requestsPerAddress: false,
  requestsPerUser: false,
  signInsPerAccount: 1_000_000,
  signInsPerAddress: 1_000_000,
  passwordsPerAccount: 1_000_000,
  passwordsPerAddress: 1_000_000,
  signUpsPerAddress: 1_000_000,
  mailsPerAccount: 1_000_000,
  mailsPerAddress: 1_000_000,
  mails: 1_000_000,
  texts: 1_000_000,
  redemptionsPerAddress: false,
} as const;

/**
 * Starts the application on a fresh copy of its database. Close it at the end of the file.
 *
 * @throws errors that keep an application from starting, as `svc start` does
 * @example
 * const app = await createTestApp({ api });
 * after(() => app.close());
 */
export async function createTestApp<Api extends Operations>(options: TestAppOptions<Api>): Promise<TestApp<Api>> {
  const cwd = resolve(options.cwd ?? ".");
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), "svc-test-"));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    const config = await configure(cwd, folder, options);
    const mail = new Mailbox();
    const loaded = await loadApp(config);
    const app: LoadedApp = { ...loaded, auth: mail.replaceMailers(loaded.auth) };

    const cluster = await openServer(cwd);
    closing.push(() => cluster.stop());
    const { urls, drop } = await cloneDatabase(cluster, cwd);
    closing.push(drop);
    const pool = new pg.Pool({ connectionString: urls.admin, max: 2, allowExitOnIdle: true });
    // The pool ends before the server has noticed, and the drop of the database then ends its connections.
    pool.on("connect", (client) => client.on("error", () => {}));
    pool.on("error", () => {});
    closing.push(() => pool.end());
    const log = createLog(options.log ?? "error", process.stderr);
    const parts = { app, config, urls, secrets: [secret], log };
    const end = explainUnawaited(cwd);
    closing.push(async () => end());
    const service = await startService(parts);
    closing.push(() => service.stop());
    const jobs = await openDueJobs({ ...parts, url: service.url });
    closing.push(() => jobs.close());

    const { url } = service;
    const clientOf = (sessionToken?: string) => {
      const auth = createAuthClient(url, { sessionTokenStorage: "memory", ...(sessionToken && { sessionToken }) });
      const client = createSvcClient({ api: options.api, baseUrl: url, auth });
      closing.push(async () => client.close());
      return Object.assign(client, { auth });
    };
    const sql = async <Row>(text: string, values?: unknown[]) => (await pool.query(text, values)).rows as Row[];

    return {
      url,
      mail,
      sql,
      seed: (seed) => runSeed(seed, parts),
      anonymous: () => clientOf(),
      async asUser(who = {}): Promise<TestUser<Api>> {
        const id = typeof who === "string" ? await idOf(who) : await create(service, app, who);
        const client = clientOf(await (await service.users()).openSession(id));
        const user = await client.auth.restore();
        if (!user) throw new Error("The session that was just opened is not accepted.");
        return Object.assign(client, { user });
      },
      async flushJobs({ failures: report = "throw" } = {}) {
        const outcome = await jobs.run();
        if (report === "throw" && outcome.failures.length > 0) throw new JobsFailed(outcome.failures);
        return outcome;
      },
      async passTime(time) {
        await passTime(pool, typeof time === "number" ? `${time} milliseconds` : time);
        await jobs.claimCrons();
      },
      enqueueCron: (name) => jobs.enqueueCron(name),
      close,
      [Symbol.asyncDispose]: close,
    };

    async function idOf(email: string): Promise<string> {
      const [row] = await sql<{ id: string }>('select id from auth."user" where email = $1', [email.toLowerCase()]);
      if (row) return row.id;
      throw new Error(`There is no user ${email}. Pass { email: "${email}" } to make one.`);
    }
  } catch (error) {
    await close();
    throw error;
  }
}

async function configure(cwd: string, folder: string, options: TestAppOptions<Operations>): Promise<EffectiveConfig> {
  const config = await loadConfig({ cwd, env: options.env ?? {} });
  return {
    ...config,
    port: 0,
    storage: { driver: "disk", dir: join(folder, "storage") },
    limits: { ...config.limits, ...noLimits, shutdownMs: 1_000, ...options.limits },
    pool: { ...config.pool, request: 4, system: 3, auth: 2 },
  };
}

let made = 0;

async function create(service: Service, app: LoadedApp, who: NewTestUser): Promise<string> {
  const { email = `user-${++made}@example.com`, name = email.split("@")[0] ?? email, ...others } = who;
  const { password, emailVerified, ...fields } = others;
  const known = Object.keys(app.auth.user?.additionalFields ?? {});
  for (const field of Object.keys(fields)) {
    if (known.includes(field)) continue;
    const [nearest] = byNearness(field, known);
    throw new TypeError(
      `auth.ts declares no field "${field}" of users.${nearest ? ` Did you mean "${nearest}"?` : ""} Known: ${known.join(", ") || "none"}.`,
    );
  }
  return (await service.users()).create({ email, name, password, emailVerified, fields });
}
