/**
 * One API process: pools, authentication, HTTP, and an orderly end. Everything it opens, `stop` closes.
 * Next hop: `src/http/app.ts`.
 */
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { createAuth } from "../auth/create-auth.ts";
import type { TrustedUsers } from "../auth/trusted-users.ts";
import type { EffectiveConfig } from "../define/config.ts";
import { graphqlEndpoint } from "../graphql/endpoint.ts";
import { createHostCheck } from "../http/allowed-hosts.ts";
import { createApp } from "../http/app.ts";
import { createMetrics } from "../http/metrics.ts";
import { createOriginPolicy } from "../http/origin-policy.ts";
import { RequestLimits } from "../http/request-limits.ts";
import { openApiDocument } from "../openapi/document.ts";
import { refuseDrift } from "../postgres/fingerprints.ts";
import { createPools, type PoolUrls } from "../postgres/pools.ts";
import { Replicas } from "../postgres/replicas.ts";
import { createRealtime } from "../realtime/create-realtime.ts";
import { publicRerun } from "../realtime/rerun.ts";
import { SocketAddresses } from "../realtime/socket-addresses.ts";
import { redeemTicket, ticketEndpoint } from "../realtime/tickets.ts";
import { fileEndpoint } from "../storage/route.ts";
import { uploadEndpoint } from "../storage/upload-route.ts";
import type { JobMetrics } from "../telemetry/job-metrics.ts";
import type { Tracing } from "../telemetry/span.ts";
import type { LoadedApp } from "./load-app.ts";
import { createRuntime } from "./runtime.ts";

export interface ServiceOptions {
  app: LoadedApp;
  config: EffectiveConfig;
  /** One per pool, and a direct connection with REPLICATION for realtime. */
  urls: PoolUrls & { replication: string };
  /** Keys for sessions and tokens, newest first. */
  secrets: readonly string[];
  log: Logger;
  /** Serve although generated functions differ from the definitions, as during a rolling deploy. (Default: false) */
  allowDrift?: boolean;
  /** Where spans go; closed by whoever opened it. (Default: there are none) */
  tracing?: Tracing | undefined;
  /** Those of a worker in this process, to be told with the others. (Default: none) */
  jobMetrics?: JobMetrics | undefined;
}

export interface Service {
  /** Where it listens, for example `http://localhost:4000`. */
  url: string;
  /** Makes users and sessions without a sign-up, for tests. */
  users: TrustedUsers;
  /** Finishes what is in flight, then closes everything. Calling it again waits for the same end. */
  stop(): Promise<void>;
}

/**
 * Starts an API process.
 *
 * @throws DriftError when generated SQL functions are missing or stale; the system's error when the port is taken
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { app, config, log, tracing } = options;
  const traced = tracing !== undefined;
  const pools = createPools(options.urls, { ...config.pool, ...config.limits, traced }, log);
  const standbys = config.database?.replicas ?? [];
  const replicas =
    standbys.length > 0
      ? new Replicas(standbys, pools.request, { ...config.pool, ...config.limits, traced }, log)
      : undefined;
  const server = createServer({
    keepAliveTimeout: idleMs,
    // Some clients offer HTTP/2 with every request (Java's do); that is no socket, and they speak HTTP/1.1 as well.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
  });
  const inFlight = trackResponses(server);
  let answer: RequestListener = refuseForNow;
  server.on("request", (request, response) => answer(request, response));
  try {
    if (!options.allowDrift) await refuseDrift(pools.system, app.api["~svc"].crud);

    // The port comes first: without AUTHLIB_URL the service's own origin depends on it.
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(config.port, config.host ?? undefined, resolve);
    });
    const url = `http://localhost:${(server.address() as AddressInfo).port}`;

    const origins = createOriginPolicy({ ...config, configured: config.auth.url, listening: url });

    const checkHost = createHostCheck({ ...config, origins: origins.all });

    const auth = await createAuth({
      pool: pools.auth,
      // Not configured, replication goes where requests go; the login for authentication is then the nearer one.
      listenUrl: options.urls.replication === options.urls.request ? options.urls.auth : options.urls.replication,
      secrets: [...options.secrets],
      origins,
      definition: app.auth,
      google: config.auth.google,
      limits: config.limits,
      production: config.production,
      log,
    });

    const { once } = auth;
    const requests = new RequestLimits({ ...config.limits, trustProxy: config.trustProxy });
    const authenticate = requests.countingUsers(auth.authenticate);
    const { procedures } = app.api["~svc"];
    const runtime = createRuntime(app, pools, config, options.secrets, log);
    const realtime = createRealtime({
      api: app.api,
      url: options.urls.replication,
      origins,
      authenticate,
      checkHost,
      count: (request) => requests.countAddress(request),
      addresses: new SocketAddresses({ ...config.limits, trustProxy: config.trustProxy }),
      redeem: (ticket) => redeemTicket(auth, ticket),
      rerun: publicRerun(runtime, procedures),
      runtime,
      secrets: options.secrets,
      log,
      tracing,
    });
    server.on("upgrade", realtime.upgrade);
    auth.onEnd((userId, sessionId) => {
      realtime.revoke({ user: userId ?? undefined, session: sessionId ?? undefined });
    });

    let stopping: Promise<void> | undefined;
    answer = createApp({
      api: app.api,
      authenticate,
      authRoutes: auth.router,
      files: fileEndpoint(runtime.storage, config.plan),
      uploads: uploadEndpoint(runtime.storage, authenticate),
      graphql: config.graphql.enabled
        ? graphqlEndpoint({ api: app.api, runtime, settings: config.graphql, authenticate, limits: config.limits, log })
        : null,
      realtimeRoutes: [ticketEndpoint(once, authenticate), realtime.router],
      origins,
      checkHost,
      requests,
      runtime,
      replicas,
      limits: config.limits,
      log,
      metrics: createMetrics(
        { request: pools.request, system: pools.system, auth: pools.auth },
        realtime.state,
        options.jobMetrics,
        replicas,
      ),
      metricsAccess: { token: config.metricsToken, open: !config.production },
      tracing,
      readiness: {
        pool: pools.request,
        realtime: () => realtime.state(),
        stopping: () => stopping !== undefined,
      },
      openapi: config.openapi.document
        ? { reference: config.openapi.reference, document: () => openApiDocument(app, config, origins.own) }
        : null,
      webDir: config.webDir,
      webHeaders: config.webHeaders,
      production: config.production,
      trustProxy: config.trustProxy,
    });
    const { request, system, auth: authentication } = config.pool;
    // Besides: the reader of the log and the listener for the ends of sessions, each directly.
    log.info({ connections: request + system + authentication + 2 }, "opens this many database connections at most");
    log.info({ url }, "listening");

    const stop = async () => {
      log.info("stopping: finishing requests in flight");
      await realtime.close();
      await drain(
        server,
        inFlight,
        config.limits.lingerMs ?? (config.production ? 1_000 : 0),
        config.limits.shutdownMs,
      );
      await auth.close();
      await replicas?.close();
      await pools.close();
      log.info("stopped");
    };
    return {
      url,
      users: auth.users,
      stop() {
        stopping ??= stop();
        return stopping;
      },
    };
  } catch (error) {
    server.close();
    await replicas?.close();
    await pools.close();
    throw error;
  }
}

/**
 * In milliseconds: how long a connection without a request is kept. Longer than proxies keep theirs, a minute as a rule: who
 * closes first must be who sends the requests, or one of them meets a connection that is just being closed.
 */
const idleMs = 75_000;

/** The port is open a moment before everything behind it is. */
const refuseForNow: RequestListener = (_request, response) => {
  response.writeHead(503, { "retry-after": "1" }).end();
};

/**
 * Takes no new connections, lets answers finish, and after the deadline breaks what is left.
 *
 * @param lingerMs before that, so that whoever keeps connections hears of it by an answer, and the balancer by /readyz: a
 *                 request that meets a connection that is just being closed cannot be sent again by itself
 */
async function drain(
  server: Server,
  inFlight: ReadonlySet<ServerResponse>,
  lingerMs: number,
  deadlineMs: number,
): Promise<void> {
  // A connection in use closes after its answer, and says so; an idle one closes when it has lingered.
  for (const response of inFlight) response.shouldKeepAlive = false;
  server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false;
  });
  if (lingerMs > 0) await sleep(lingerMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
  await closed;
  clearTimeout(deadline);
}

/** The answers that have not been sent to their end. */
function trackResponses(server: Server): ReadonlySet<ServerResponse> {
  const inFlight = new Set<ServerResponse>();
  server.on("request", (_request, response) => {
    inFlight.add(response);
    response.on("close", () => inFlight.delete(response));
  });
  return inFlight;
}
