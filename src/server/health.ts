/** `/healthz`: the process runs. `/readyz`: it can serve. `/metrics`: its metrics. */
import { setImmediate as afterInput, setTimeout as sleep } from "node:timers/promises";
import { type RequestHandler, Router } from "express";
import type pg from "pg";
import { exchangeOf, sendJson } from "../http/exchange.ts";
import type { Pools } from "../postgres/pools.ts";
import type { RealtimeState } from "../realtime/create-realtime.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { type MetricsAccess, refuseReader } from "../telemetry/metrics-access.ts";
import { metricsText } from "./shared-metrics.ts";

export interface Readiness {
  pools: Pick<Pools, "request" | "system" | "auth">;
  /** The state of change notifications. For information only: without notifications clients poll, and everything else works. */
  realtime(): Pick<RealtimeState, "flow" | "lag">;
  /** Whether a shutdown has begun; balancers then send new requests elsewhere. */
  stopping(): boolean;
}

export function healthEndpoints(readiness: Readiness, metrics: Metrics, access: MetricsAccess): Router {
  const router = Router();
  const { request, system, auth } = readiness.pools;
  const isReachable = createPing([request, system, auth]);
  const named = (operation: string, handler: RequestHandler): RequestHandler => {
    return (request, response, next) => {
      Object.assign(exchangeOf(response), { operation, isProbe: true });
      return handler(request, response, next);
    };
  };
  router.get(
    "/healthz",
    named("/healthz", (_request, response) => sendJson(response, 200, '{"status":"ok"}')),
  );
  router.get(
    "/readyz",
    named("/readyz", async (_request, response) => {
      const database = await isReachable();
      const stopping = readiness.stopping();
      const ready = database && !stopping;
      // Balancers ask on while the process stops.
      exchangeOf(response).isExpected = stopping;
      const { flow, lag } = readiness.realtime();
      const checks = { database: database ? "ok" : "unreachable", stopping, realtime: flow, realtimeLagMs: lag };
      sendJson(response, ready ? 200 : 503, JSON.stringify({ status: ready ? "ready" : "not ready", checks }));
    }),
  );
  router.get(
    "/metrics",
    named("/metrics", async (request, response) => {
      refuseReader(access, request);
      const registry = await metrics.registry();
      response.setHeader("content-type", registry.contentType);
      response.end(await metricsText(registry));
    }),
  );
  return router;
}

/** In milliseconds: a database that answers later is unreachable. Balancers wait this long for a probe, or a little longer. */
const defaultPatience = 2_000;

/**
 * Concurrent probes share a pool's question: probes are not rate limited, and many could exhaust the requests' connections. While
 * a question has no answer, as from a host that has vanished, the pool gets no other one.
 *
 * Connections that are all taken say nothing about the database. If they counted as unreachable, a balancer would take the busy
 * process out, and the others would get its load. Behind a pooler they are taken there, where this process does not see it, but
 * each login has its own.
 *
 * @param pools the first that has a connection left is asked, and after a quarter of the time the others, too
 * @param patience in milliseconds. (Default: 2,000)
 */
export function createPing(
  pools: readonly [pg.Pool, ...pg.Pool[]],
  patience = defaultPatience,
): () => Promise<boolean> {
  const unanswered = new Map<pg.Pool, Promise<boolean>>();
  const ask = (pool: pg.Pool) => {
    const known = unanswered.get(pool);
    if (known) return known;
    const asking = ping(pool).finally(() => unanswered.delete(pool));
    unanswered.set(pool, asking);
    return asking;
  };
  return async () => {
    const [first = pools[0], ...others] = pools.filter((pool) => unanswered.has(pool) || hasRoom(pool));
    const answer = ask(first);
    const early = await Promise.race([answer, pause(patience / 4)]);
    if (early !== undefined) return early;
    const isOne = Promise.any([answer, ...others.map(ask)].map(requireYes)).catch(() => false);
    return (await Promise.race([isOne, pause((patience * 3) / 4)])) ?? false;
  };
}

/** Also reads what has arrived: a process that was busy for so long may have the answer already. */
const pause = (ms: number) => sleep(ms, undefined, { ref: false }).then(() => afterInput(undefined));

async function requireYes(answer: Promise<boolean>): Promise<true> {
  if (await answer) return true;
  throw new Error("unreachable");
}

const hasRoom = (pool: pg.Pool) => pool.idleCount > 0 || pool.totalCount < pool.options.max;

async function ping(pool: pg.Pool): Promise<boolean> {
  try {
    const client = await pool.connect();
    try {
      await client.query({ name: "svc_ping", text: "select 1" });
      client.release();
      return true;
    } catch (error) {
      client.release(true);
      throw error;
    }
  } catch {
    return false;
  }
}
