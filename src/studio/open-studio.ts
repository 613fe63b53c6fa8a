/**
 * Studio: a page for operators, beside the service and not in it. Nothing of the service imports this folder.
 * Next hop: `listener.ts`, then `panels.ts`.
 */
import pg from "pg";
import type { StudioUrls } from "../cluster/types.ts";
import { limitShares } from "../postgres/acquire.ts";
import { createAgentEndpoint } from "./agent-endpoint.ts";
import { type Agents, type ListenerOptions, openListener } from "./listener.ts";
import type { McpOptions } from "./mcp-server.ts";
import { type PanelOptions, toolsOf } from "./panel.ts";
import { createPanels } from "./panels.ts";
import { limits } from "./view.ts";

export interface StudioOptions
  extends Pick<PanelOptions, "command" | "observations">,
    Pick<ListenerOptions, "page" | "announce" | "admit" | "failed"> {
  urls: StudioUrls;
  port?: number;
  /** Coding agents may ask too. (Default: they may not) */
  agents?: (Pick<Agents, "secret"> & Pick<McpOptions, "version" | "cwd" | "platform">) | undefined;
}

export interface Studio {
  /** Such as `http://127.0.0.1:4001`. */
  origin: string;
  stop(): Promise<void>;
}

/** Connections at most, for views and functions together. */
const most = 4;

/** @throws the system's error when the port is taken */
export async function openStudio({
  urls,
  command,
  observations,
  agents,
  ...listening
}: StudioOptions): Promise<Studio> {
  const read = openReadPool(urls.read, "svc studio");
  const act = urls.act === null ? null : openPool(urls.act, 1, "svc studio");
  const closePools = () => Promise.all([read.end(), act?.end()]);
  try {
    // Agents have no acts.
    const ofAgents = toolsOf({ read, act: null, command, observations });
    const { server, origin } = await openListener({
      ...listening,
      answer: createPanels({ read, act, command, observations }),
      agents: agents && {
        secret: agents.secret,
        answer: createAgentEndpoint({ ...agents, observations, tools: async () => ofAgents, failed: listening.failed }),
      },
    });
    return {
      origin,
      async stop() {
        server.close();
        server.closeAllConnections();
        await closePools();
      },
    };
  } catch (error) {
    await closePools();
    throw error;
  }
}

/** Of `svc_studio_read`. @param program for pg_stat_activity */
export function openReadPool(url: string, program: string): pg.Pool {
  const pool = openPool(url, most, program);
  limitShares(pool, most, limits.statementTimeoutMs);
  return pool;
}

function openPool(connectionString: string, max: number, program: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max,
    application_name: program,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 10_000,
    // As in src/postgres/pools.ts: a transaction's first statements are sent in one round trip.
    ...({ pipeline: true } as object),
  });
  pool.on("error", () => {}); // an idle connection that breaks is replaced on the next use
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}
