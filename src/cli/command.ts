/** Shared by commands: the application's folder, its configuration and its database. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type OpenOptions, openCluster } from "../cluster/open-cluster.ts";
import type { Cluster } from "../cluster/types.ts";
import type { EffectiveConfig } from "../config/config.ts";
import { ConfigError, loadConfig } from "../config/load-config.ts";
import { type Arguments, type Definition, defineCommand, type Values } from "./define.ts";
import { flag } from "./options.ts";
import { say } from "./output.ts";
import { platformRoot } from "./platform.ts";

export { say } from "./output.ts";
export { platformRoot } from "./platform.ts";

/** `--json` of commands that run until they are stopped. */
export const logAsJson = flag("The log as JSON lines, also in a terminal.");

/** The variable by which `svc dev` marks its service. */
export const developing = "SVC_DEVELOPING";

/** Reads the configuration, after `.env` in the application's folder. Variables that are already set win. */
export async function readConfig(cwd: string): Promise<EffectiveConfig> {
  const file = resolve(cwd, ".env");
  try {
    if (existsSync(file)) process.loadEnvFile(file);
  } catch (cause) {
    throw new ConfigError(`${file} could not be read: ${(cause as Error).message}`, { cause });
  }
  return loadConfig({ cwd });
}

/** Whether this process was started by `svc dev`, which has already printed the general messages. */
export const isPart = process.send !== undefined;

/** Whether `svc dev` says that answers may show causes. Other parents have an IPC channel too, such as PM2. */
export const isDeveloping = isPart && process.env[developing] === "1";

/**
 * The database that DATABASE_URL names, or the application's own cluster.
 *
 * @param options.logins that must work. (Default: "all")
 */
export async function openDatabase(
  config: EffectiveConfig,
  options: Pick<OpenOptions, "logins" | "shared"> = {},
): Promise<Cluster> {
  const cluster = await openCluster({ directory: join(config.cwd, ".svc"), report: say, ...options });
  // Says which server it is: not again of our own, unless something is missing.
  if (!isPart && (cluster.origin !== "cached" || cluster.vector === null)) say(cluster.reason);
  return cluster;
}

/** Opens the database while `work` runs. */
export async function withDatabase(
  config: EffectiveConfig,
  options: Pick<OpenOptions, "logins">,
  work: (cluster: Cluster) => Promise<unknown>,
): Promise<void> {
  const cluster = await openDatabase(config, options);
  try {
    await work(cluster);
  } finally {
    await cluster.stop();
  }
}

/** The files of svc and the application, and a database that may have them. */
export const targetOf = ({ cwd }: EffectiveConfig, adminUrl: string) => ({
  adminUrl,
  platform: platformRoot,
  application: cwd,
});

export interface DatabaseCommand<A extends Arguments> extends Pick<Definition, "description"> {
  args?: A;
  /** Refuses arguments that do not go together, before the database is opened. */
  check?: (args: Values<A>) => void;
  run: (cluster: Cluster, args: Values<A>, config: EffectiveConfig) => Promise<unknown>;
}

/** A command that works on the database. @param logins that it needs */
export const databaseCommand = <A extends Arguments = Record<never, never>>(
  logins: OpenOptions["logins"],
  { check, run, ...definition }: DatabaseCommand<A>,
): Definition =>
  defineCommand({
    ...definition,
    run: async (args: Values<A>) => {
      check?.(args);
      const config = await readConfig(args.cwd);
      await withDatabase(config, { logins }, (cluster) => run(cluster, args, config));
    },
  });
