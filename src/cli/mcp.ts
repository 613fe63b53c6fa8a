/**
 * `svc mcp`: tools for coding agents, over standard input and output, by the Model Context Protocol.
 * Next hop: `src/studio/mcp-server.ts`, imported on demand. Over HTTP, `src/studio/agent-endpoint.ts` answers.
 */
import { join } from "node:path";
import { Writable } from "node:stream";
import { runningAddress } from "../cluster/open-cluster.ts";
import type { Cluster } from "../cluster/types.ts";
import type { EffectiveConfig } from "../config/config.ts";
import { ConcurrencyLimiter } from "../kit/concurrency-limiter.ts";
import { requirePackages } from "../kit/optional-packages.ts";
import type { Tools } from "../studio/panel.ts";
import { agentAccess, describeAccess } from "./agent-access.ts";
import { openDatabase, platformRoot, readConfig, say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { flag } from "./options.ts";
import { output, print } from "./output.ts";
import { version } from "./platform.ts";
import { nextSignal } from "./signal.ts";
import { requireStudioUrls, runCommand, usualPort } from "./studio.ts";

export const command = defineCommand({
  args: {
    http: flag("Print how an agent asks the Studio of svc dev over HTTP, and end. The first time, make its secret."),
    json: flag("With --http, print JSON. Otherwise it changes nothing: the protocol is JSON."),
  },
  run: async ({ cwd, http }) => {
    if (http) return printAccess(cwd);
    const { protocol, giveBack } = takeOutput();
    try {
      await serve(cwd, protocol);
    } finally {
      giveBack();
    }
  },
});

async function printAccess(folder: string): Promise<void> {
  requirePackages("mcp");
  const { cwd } = await readConfig(folder);
  const { makeAgentSecret } = await import("../studio/agent-secret.ts");
  const { readEntry } = await import("../studio/studio-entry.ts");
  const origin = readEntry(cwd)?.origin ?? `http://127.0.0.1:${usualPort}`;
  const access = agentAccess(origin, makeAgentSecret(cwd));
  print(access, () => describeAccess(access));
}

async function serve(cwd: string, protocol: Writable): Promise<void> {
  requirePackages("mcp");
  const config = await readConfig(cwd);
  if (config.database) requireStudioUrls(config, undefined); // a private server is started by the first call
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
  const { createMcpServer } = await import("../studio/mcp-server.ts");
  const database = databaseOf(config);
  const server = createMcpServer({
    version,
    cwd: config.cwd,
    platform: platformRoot,
    tools: database.tools,
    failed: (error) => say(`svc mcp: ${error instanceof Error ? error.stack : error}`),
  });
  const closed = new Promise((resolve) => {
    process.stdin.once("end", resolve).once("close", resolve);
    process.stdout.once("error", resolve);
  });
  await server.connect(new StdioServerTransport(process.stdin, protocol));
  await Promise.race([nextSignal(), closed]);
  await server.close();
  await database.close();
}

/**
 * Standard output carries the protocol only. What else is written there, such as by svc.config.ts, goes to standard error,
 * and so do errors.
 */
function takeOutput() {
  const { write } = process.stdout;
  const send = write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  output.json = false;
  return {
    protocol: new Writable({ decodeStrings: false, write: (chunk, _encoding, done) => void send(chunk, () => done()) }),
    giveBack() {
      process.stdout.write = write;
    },
  };
}

interface Opened {
  tools: Tools;
  /** The private server, if it is not an external one. */
  cluster: Cluster | undefined;
  close(): Promise<void>;
}

/**
 * The database, opened by the first call: agents start `svc mcp` in every session. A private server stays when this
 * process ends, if others use it, and is opened again when `svc dev`, which had started it, has stopped it.
 */
function databaseOf(config: EffectiveConfig) {
  let opened: Opened | undefined;
  const turns = new ConcurrencyLimiter(1, Number.POSITIVE_INFINITY);
  const isGone = ({ cluster }: Opened) =>
    cluster !== undefined && runningAddress(join(config.cwd, ".svc")) !== cluster.urls.admin;
  const leave = async () => {
    const last = opened;
    opened = undefined;
    await last?.close();
  };
  return {
    tools: () =>
      turns.run(async (): Promise<Tools> => {
        if (opened && isGone(opened)) await leave();
        opened ??= await open(config);
        return opened.tools;
      }),
    close: () => turns.run(leave),
  };
}

async function open(config: EffectiveConfig): Promise<Opened> {
  const cluster = config.database ? undefined : await openDatabase(config, { logins: "serving", shared: true });
  const { openReadPool } = await import("../studio/open-studio.ts");
  const { toolsOf } = await import("../studio/panel.ts");
  const read = openReadPool(requireStudioUrls(config, cluster).read, "svc mcp");
  return {
    tools: toolsOf({ read, act: null, command: (...words) => runCommand(config.cwd, words) }),
    cluster,
    async close() {
      await read.end();
      await cluster?.stop();
    },
  };
}
