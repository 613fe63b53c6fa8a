/** What all commands share: the folder to work in, plain progress lines, and errors without stacks. */
import { join, resolve } from "node:path";
import type { EffectiveConfig } from "../define/config.ts";
import { DefinitionError } from "../define/definition-error.ts";
import { ConfigError, loadConfig } from "../define/load-config.ts";
import { type Cluster, ClusterError, openCluster } from "../postgres/cluster.ts";
import { DriftError } from "../postgres/fingerprints.ts";
import { MigrationError } from "../postgres/migrate.ts";

/** The folder that holds the platform's `sql/` and `migrations/`. */
export const platformRoot = resolve(import.meta.dirname, "../..");

export const cwdArgument = {
  cwd: { type: "string", description: "The application's folder. (Default: here)", default: "." },
} as const;

/** Progress goes to standard error; standard output carries the log. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Errors that explain themselves: a stack would only hide the message. */
const explained = [ConfigError, DefinitionError, ClusterError, MigrationError, DriftError];

/** Runs a command's body; a known mistake becomes its message and exit code 1. */
export async function run(body: () => Promise<void>): Promise<void> {
  try {
    await body();
  } catch (error) {
    if (error instanceof Error && isExplained(error)) say(`\n${error.message}`);
    else say(`\n${error instanceof Error ? error.stack : error}`);
    process.exitCode = 1;
  }
}

function isExplained(error: Error): boolean {
  return explained.some((kind) => error instanceof kind) || (error as NodeJS.ErrnoException).code === "EADDRINUSE";
}

export const readConfig = (cwd: string): Promise<EffectiveConfig> => loadConfig({ cwd });

/** The database that DATABASE_URL names, or the application's own cluster. */
export async function openDatabase(config: EffectiveConfig): Promise<Cluster> {
  const cluster = await openCluster({ directory: join(config.cwd, ".svc"), report: say });
  say(`PostgreSQL ${cluster.serverVersion}: ${cluster.reason}`);
  return cluster;
}
