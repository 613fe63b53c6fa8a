/**
 * `svc studio`: a page for operators, on this machine only. `svc dev` has the same one beside it.
 * Next hop: `src/studio/open-studio.ts`, imported on demand.
 */

import { execFile } from "node:child_process";
import type { Cluster, StudioUrls } from "../cluster/types.ts";
import type { EffectiveConfig } from "../config/config.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { requirePackages } from "../kit/optional-packages.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Studio } from "../studio/open-studio.ts";
import type { Observations } from "../telemetry/observations.ts";
import { agentAccess, describeAccess } from "./agent-access.ts";
import { openDatabase, platformRoot, readConfig, say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { flag, number, portRange } from "./options.ts";
import { output } from "./output.ts";
import { version } from "./platform.ts";
import { nextSignal } from "./signal.ts";

export const usualPort = 4001;

export const command = defineCommand({
  args: {
    port: number("TCP port; 0 takes any free one.", { default: usualPort, ...portRange }),
    mcp: flag("Answer coding agents too, with a secret that is printed and ends with it."),
  },
  run: ({ cwd, port, mcp }) => serve(cwd, port, mcp),
});

async function serve(cwd: string, port: number, isForAgents: boolean): Promise<void> {
  if (isForAgents) requirePackages("mcp");
  const config = await readConfig(cwd);
  const cluster = config.database ? undefined : await openDatabase(config, { logins: "serving" });
  try {
    const urls = requireStudioUrls(config, cluster);
    const secret = isForAgents ? (await import("../studio/keys.ts")).random() : null;
    const studio = await open(config, urls, port, tellAddress, () => secret).catch((error) => {
      if (error.code !== "EADDRINUSE") throw error;
      throw new DefinitionError(`Port ${port} is taken.`, { hint: "Take another: svc studio --port 0." });
    });
    if (!studio) {
      throw new DefinitionError("Studio's page is not installed.", { hint: "Run npm install --save-dev @svc/studio." });
    }
    if (secret) {
      const access = agentAccess(studio.origin, secret);
      if (output.json) process.stdout.write(`${JSON.stringify({ mcp: access })}\n`);
      else say(describeAccess(access));
    }
    const ended = await Promise.race([nextSignal(), ...(cluster ? [cluster.failed] : [])]);
    await studio.stop();
    if (ended instanceof Error) throw ended;
  } finally {
    await cluster?.stop();
  }
}

const tellAddress: Tell = (address, label) => {
  if (output.json) process.stdout.write(`${JSON.stringify({ address })}\n`);
  else sayAddress(address, label);
};

/** @returns undefined where the page is not installed, or the login is not named */
export async function studioBesideDev(
  config: EffectiveConfig,
  cluster: Cluster,
  observations: Observations,
): Promise<Studio | undefined> {
  const urls = urlsOf(config, cluster);
  if (!urls) return undefined;
  const { readAgentSecret } = await import("../studio/agent-secret.ts");
  const secret = () => readAgentSecret(config.cwd);
  try {
    // Another application's may have the usual port.
    return await open(config, urls, usualPort, sayAddress, secret, observations).catch(() =>
      open(config, urls, 0, sayAddress, secret, observations),
    );
  } catch (error) {
    say(`Studio could not be opened: ${(error as Error).message}`);
    return undefined;
  }
}

const urlsOf = (config: EffectiveConfig, cluster: Cluster | undefined): StudioUrls | null =>
  config.database ? config.database.studio : (cluster?.studio ?? null);

/** @throws DefinitionError where they are not named: no other login takes their place */
export function requireStudioUrls(config: EffectiveConfig, cluster: Cluster | undefined): StudioUrls {
  const urls = urlsOf(config, cluster);
  if (urls) return urls;
  throw new DefinitionError("DATABASE_STUDIO_URL is not set.", {
    hint: "Studio reads with a login of its own, svc_studio_read: docs/how-to/studio.md shows how to set it up.",
  });
}

/** Tells an address for one browser tab. */
type Tell = (address: string, label: string) => void;

const sayAddress: Tell = (address, label) => say(`  ${label}: ${address}\n`);

async function open(
  { cwd }: EffectiveConfig,
  urls: StudioUrls,
  port: number,
  tell: Tell,
  secret: () => string | null,
  observations?: Observations,
): Promise<Studio | undefined> {
  const { openStudio } = await import("../studio/open-studio.ts");
  const { pageFolder } = await import("../studio/page-files.ts");
  const page = pageFolder(cwd);
  if (page === null) return undefined;
  const { writeEntry } = await import("../studio/studio-entry.ts");
  let isFirst = true;
  let removeEntry = () => {};
  const stopping = new AbortController();
  const studio = await openStudio({
    urls,
    port,
    page,
    observations,
    agents: { secret, version, cwd, platform: platformRoot },
    command: (...words) => runCommand(cwd, words, { signal: stopping.signal }),
    announce(address) {
      tell(address, isFirst ? "Studio" : "Studio, for another tab");
      isFirst = false;
    },
    // Only svc dev knows what svc mcp asks for.
    ...(observations && {
      admit(entry) {
        try {
          removeEntry = writeEntry(cwd, entry);
        } catch (error) {
          say(`svc mcp cannot ask for requests: ${(error as Error).message}`);
        }
      },
    }),
    failed: (error) => say(`Studio: ${error instanceof Error ? error.stack : error}`),
  });
  return {
    origin: studio.origin,
    async stop() {
      removeEntry();
      stopping.abort();
      await studio.stop();
    },
  };
}

const inputOption = "--input=";

/** In milliseconds. A handler that never ends would keep its process, and a processor, for ever. */
const longestDryRun = 60_000;

interface Ends {
  /** Ends the process. */
  signal?: AbortSignal;
  /** Of a dry run, in milliseconds. (Default: 60,000) */
  timeout?: number;
}

/**
 * In a process of its own, because imported modules of the application cannot be unloaded. The input of a dry run goes
 * through a pipe: every user of the machine may read the arguments of a process.
 */
export function runCommand(
  cwd: string,
  given: readonly string[],
  { signal, timeout = longestDryRun }: Ends = {},
): Promise<unknown> {
  const input = given.find((word) => word.startsWith(inputOption))?.slice(inputOption.length);
  const words = given.map((word) => (word.startsWith(inputOption) ? `${inputOption}-` : word));
  const args = [process.argv[1] ?? "", ...words, "--json", "--cwd", cwd];
  // By SIGKILL: a busy process hears nothing else. Its transaction is rolled back.
  const ends = words[0] === "dry-run" ? ({ timeout, killSignal: "SIGKILL" } as const) : {};
  return new Promise((resolve, reject) => {
    const { stdin } = execFile(process.execPath, args, { maxBuffer: 1e7, signal, ...ends }, (error, out, log) => {
      if (error?.killed && ends.timeout) {
        return reject(new SvcError("TIMEOUT", `The dry run took longer than ${timeout / 1000} s, and was ended.`));
      }
      try {
        const result = JSON.parse(out); // also with exit code 1, which means findings
        if (typeof result.error === "string")
          reject(new SvcError("INTERNAL", `svc ${words.join(" ")}: ${result.error}`));
        else resolve(result);
      } catch {
        reject(new Error(`svc ${words.join(" ")} failed: ${log || error?.message}`));
      }
    });
    stdin?.on("error", () => {}); // the command has ended without reading it
    stdin?.end(input);
  });
}
