/**
 * Provides PostgreSQL: the server that DATABASE_URL names, or a private cluster that starts here and stops with the
 * process that started it. Next hops: `cluster/external.ts` checks the former, `cluster/binaries.ts` finds programs for
 * the latter, `cluster/server.ts` runs them. For users: docs/how-to/database.md.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { resolveTree } from "./binaries.ts";
import { ClusterError } from "./error.ts";
import { type Logins, openExternal } from "./external.ts";
import { loginUrl, readAccess } from "./logins.ts";
import { clusterDirectory, serverUser, treeDirectory } from "./places.ts";
import { openPrivate } from "./private.ts";
import { findRunning } from "./server.ts";
import type { Choice, Cluster, Tree } from "./types.ts";

export { ClusterError } from "./error.ts";

export interface ProvisionOptions {
  /** The application's state directory, `.svc`. */
  directory: string;
  /** The environment with DATABASE_* and SVC_POSTGRES. (Default: process.env.) */
  env?: NodeJS.ProcessEnv;
  /** The folder of server programs and extensions. (Default: once per project; see `treeDirectory`.) */
  cache?: string;
  /** Called with a line per slow step. (Default: no output.) */
  report?: (line: string) => void;
}

export interface OpenOptions extends ProvisionOptions {
  /** The cluster's folder. (Default: "postgres"; tests use "test".) */
  name?: string;
  /** Additional server settings, as in postgresql.conf; they override ours. They take effect when the server starts. */
  settings?: Record<string, string>;
  /** Whether the last process to leave stops the server, instead of the one that started it. (Default: false) */
  shared?: boolean;
  /**
   * The logins that must work on an external server. Serving processes need no DATABASE_ADMIN_URL, so the
   * administrator's password need not be available to them. Migrations need only that one, and commands that look at the
   * queue only svc_system's. (Default: "all")
   */
  logins?: Logins;
}

/**
 * Opens the application's PostgreSQL.
 *
 * @throws ClusterError whose message ends with the remedy
 * @example
 * const cluster = await openCluster({ directory: ".svc" });
 * const pool = new Pool({ connectionString: cluster.urls.request });
 * await cluster.stop();
 */
export async function openCluster(options: OpenOptions): Promise<Cluster> {
  const { env = process.env, report = () => {} } = options;
  if (env.DATABASE_URL) return openExternal(env.DATABASE_URL, env, options.logins ?? "all");
  mkdirSync(options.directory, { recursive: true });
  return openPrivate({
    directory: options.directory,
    name: options.name ?? "postgres",
    settings: options.settings ?? {},
    shared: options.shared ?? false,
    cache: options.cache ?? treeDirectory(options.directory),
    choice: choiceOf(env),
    report,
  });
}

/**
 * The administrator's address of the database, if it is an external one or the private server runs. Starts nothing.
 *
 * @param directory the application's state directory
 */
export function runningAddress(directory: string): string | null {
  const { DATABASE_URL: url, DATABASE_ADMIN_URL: admin } = process.env;
  if (url) return admin ?? url;
  const cluster = clusterDirectory(directory, "postgres");
  const access = readAccess(cluster);
  return access && findRunning(join(cluster, "data"))?.ready ? loginUrl(access, "postgres") : null;
}

/**
 * Prepares server programs and pgvector without starting a server, so that the first start is quick. `scripts/setup`
 * calls it. Tries again to get pgvector if an earlier run could not.
 *
 * @returns null if DATABASE_URL names a server: there is nothing to prepare
 */
export async function provision(options: ProvisionOptions): Promise<(Tree & { cached: boolean }) | null> {
  const { env = process.env, report = () => {} } = options;
  if (env.DATABASE_URL) return null;
  mkdirSync(options.directory, { recursive: true });
  return resolveTree({
    directory: options.cache ?? treeDirectory(options.directory),
    user: await serverUser(""),
    choice: choiceOf(env),
    major: null,
    retryVector: true,
    report,
  });
}

function choiceOf(env: NodeJS.ProcessEnv): Choice {
  const choice = env.SVC_POSTGRES || "auto";
  if (choice === "auto" || choice === "installed" || choice === "embedded") return choice;
  throw new ClusterError(
    `SVC_POSTGRES is "${choice}".`,
    "Set it to installed or embedded, or leave it out and svc takes the first that works.",
  );
}
