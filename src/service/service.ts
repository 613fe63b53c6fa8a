/**
 * One API process: pools, authentication, HTTP, and an orderly shutdown. `stop` closes everything that it opens.
 * Next hop: `http-server.ts`, then `src/server/app.ts`.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import { checkScopes } from "../auth/api-keys/check-scopes.ts";
import { createAuth } from "../auth/create-auth.ts";
import type { ShowMail } from "../auth/mail/mails.ts";
import type { UserAdmin } from "../auth/user-admin.ts";
import type { EffectiveConfig } from "../config/config.ts";
import { refuseDrift } from "../crud/fingerprints.ts";
import { followedTables } from "../crud/followed-tables.ts";
import { graphqlEndpoint } from "../graphql/endpoint.ts";
import { createHostCheck } from "../http/allowed-hosts.ts";
import { BodyBudget } from "../http/body-budget.ts";
import { FormFiles } from "../http/form-files.ts";
import { createOriginPolicy } from "../http/origin-policy.ts";
import { RequestLimits } from "../http/request-limits.ts";
import { SignedClientAddress } from "../http/signed-client-address.ts";
import { createPools, type PoolUrls } from "../postgres/pools.ts";
import { Replicas } from "../postgres/replicas.ts";
import { createRealtime, type Realtime } from "../realtime/create-realtime.ts";
import { SocketAddresses } from "../realtime/socket-addresses.ts";
import { createApp } from "../server/app.ts";
import { grantEndpoint, grantPath } from "../server/grant-endpoint.ts";
import { createMetrics } from "../server/metrics.ts";
import { realtimeCalls } from "../server/realtime-calls.ts";
import { sharesPort } from "../server/shared-metrics.ts";
import { redeemTicket, ticketEndpoint, ticketPath } from "../server/tickets.ts";
import { fileEndpoint } from "../storage/route.ts";
import { uploadEndpoint } from "../storage/upload-route.ts";
import type { JobMetrics } from "../telemetry/job-metrics.ts";
import type { Tracing } from "../telemetry/span.ts";
import { drain, type HttpServer, listen, openServer } from "./http-server.ts";
import { createRuntime, type ProcessOptions } from "./runtime.ts";

export interface ServiceOptions extends ProcessOptions {
  /** One per pool, and a direct connection with REPLICATION for realtime. */
  urls: PoolUrls & { replication: string };
  /** Serve although generated functions differ from the definitions, as during a rolling deploy. (Default: false) */
  allowDrift?: boolean;
  /** Exports spans; the caller closes it. (Default: no tracing) */
  tracing?: Tracing | undefined;
  /** Metrics of a worker in this process, to include in `/metrics`. (Default: none) */
  jobMetrics?: JobMetrics | undefined;
  /** Awaited when everything but the port is ready, which another process may hold until then. (Default: not at all) */
  mayListen?: (() => Promise<void>) | undefined;
  /** Called when the service has left the port; requests in flight still finish. (Default: not at all) */
  hasLeft?: (() => void) | undefined;
  /** Shows the author the mails of authentication, while developing. (Default: nobody sees them) */
  showMail?: ShowMail | undefined;
}

export interface Service {
  /** The address it listens on, for example `http://localhost:4000`. */
  url: string;
  /** Makes users and sessions without a sign-up, for tests. */
  users: () => Promise<UserAdmin>;
  /** Finishes requests in flight, then closes everything. Further calls wait for the same shutdown. */
  stop(): Promise<void>;
}

/**
 * Starts an API process.
 *
 * @throws DriftError when generated SQL functions are missing or stale; DefinitionError where a table is open to every API
 *   key; the system's error when the port is taken
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { app, config, log } = options;
  const http = openServer();
  const databases = openDatabases(options);
  const { pools, replicas } = databases;
  let auth: Parts["auth"] | undefined;
  let realtime: Realtime | undefined;
  let forms: BodyBudget["files"];
  const closeAll = async () => {
    await auth?.close();
    // Together: what the replicas ask of a primary that has vanished ends with its connection.
    await Promise.all([replicas?.close(), pools.close()]);
    await forms?.close();
  };
  try {
    const checked = Promise.all([
      !options.allowDrift && refuseDrift(pools.system, app.api["~svc"].crud),
      checkScopes(pools.auth, app.auth),
    ]);
    checked.catch(() => {}); // awaited below, before anything is served
    // A balancer, or the system for processes that share a port, sends requests here as soon as it listens, although
    // another process could answer them. Only if the system chooses the port, it comes first: the service's origin needs it.
    const listensLast = config.port !== 0;
    const begin = () => listen(http, config.port, config.host ?? undefined);
    const url = listensLast ? `http://localhost:${config.port}` : await begin();
    const origins = createOriginPolicy({ ...config, configured: config.auth.url, listening: url });
    const handed = new SignedClientAddress(config.auth.bridgeSecrets, log);
    const checkHost = createHostCheck({ ...config, origins: origins.all });
    auth = await openAuth(options, pools, origins, handed);
    const requests = new RequestLimits({ ...config.limits, trustProxy: config.trustProxy, handed });
    const authenticate = requests.countingUsers(auth.authenticate);
    const runtime = createRuntime(options, pools, { url, auth: auth.forHandlers });
    const bodies = openBodies(config, requests, log);
    forms = bodies.files;
    const parts: Parts = { options, databases, origins, checkHost, auth, requests, bodies, runtime, authenticate };
    const opened = openRealtime(parts);
    realtime = opened;
    let stopping: Promise<void> | undefined;
    const application = await openApp(parts, opened, http.inFlight, () => stopping !== undefined);
    await Promise.all([checked, auth.listens()]);
    await options.mayListen?.();
    http.server.on("upgrade", opened.upgrade);
    http.answerBy(application);
    if (listensLast) await begin();

    const { request, system, auth: authentication } = config.pool;
    // Plus two direct connections: the reader of the log, and the listener for ended sessions.
    log.info({ connections: request + system + authentication + 2 }, "opens this many database connections at most");
    log.info({ url }, "listening");
    const stop = async () => {
      log.info("stopping: finishing requests in flight");
      await opened.close();
      await drain(
        http,
        config.limits.lingerMs ?? (config.production ? 1_000 : 0),
        config.limits.shutdownMs,
        options.hasLeft,
      );
      await closeAll();
      log.info("stopped");
    };
    return {
      url,
      users: async () => (await parts.auth.signIn()).users,
      stop() {
        stopping ??= stop();
        return stopping;
      },
    };
  } catch (error) {
    http.server.close();
    http.server.closeAllConnections(); // connections that were answered with 503
    // Report the original error; errors of the cleanup are only logged.
    await realtime?.close().catch((err) => log.warn({ err }, "realtime could not be closed"));
    await closeAll().catch((err) => log.warn({ err }, "could not close every opened resource"));
    throw error;
  }
}

/** The resources opened so far during start. */
interface Parts {
  options: ServiceOptions;
  databases: ReturnType<typeof openDatabases>;
  origins: ReturnType<typeof createOriginPolicy>;
  checkHost: ReturnType<typeof createHostCheck>;
  auth: Awaited<ReturnType<typeof createAuth>>;
  requests: RequestLimits;
  bodies: BodyBudget;
  runtime: ReturnType<typeof createRuntime>;
  /** Also counts requests per user. */
  authenticate: ReturnType<RequestLimits["countingUsers"]>;
}

function openDatabases({ config, urls, log, tracing }: ServiceOptions) {
  const settings = { ...config.pool, ...config.limits, traced: tracing !== undefined };
  const pools = createPools(urls, settings, log);
  const standbys = config.database?.replicas ?? [];
  return { pools, replicas: standbys.length > 0 ? new Replicas(standbys, pools.request, settings, log) : undefined };
}

function openAuth(
  { app, config, urls, secrets, log, showMail }: ServiceOptions,
  pools: Parts["databases"]["pools"],
  origins: Parts["origins"],
  handed: SignedClientAddress,
) {
  return createAuth({
    pool: pools.auth,
    // Without its own URL, replication uses the requests' URL; then the authentication login's URL is used to listen.
    listenUrl: urls.replication === urls.request ? urls.auth : urls.replication,
    secrets: [...secrets],
    origins,
    definition: app.auth,
    google: config.auth.google,
    clients: config.auth.clients,
    limits: config.limits,
    handed,
    production: config.production,
    showMail,
    log,
  });
}

function openRealtime({ options, databases, origins, checkHost, auth, requests, runtime, authenticate }: Parts) {
  const { app, config, urls, secrets, log, tracing } = options;
  const realtime = createRealtime({
    api: app.api,
    tables: followedTables(app.api, app.schema),
    url: urls.replication,
    sharesChanges: sharesPort,
    origins,
    authenticate,
    checkHost,
    count: (request) => requests.countAddress(request),
    addresses: new SocketAddresses({ ...config.limits, trustProxy: config.trustProxy }),
    redeem: (ticket) => redeemTicket(auth, app.auth, ticket),
    hearEnd: auth.hearEnd,
    ...realtimeCalls(runtime, app, databases.pools.system),
    secrets,
    log,
    production: config.production,
    tracing,
  });
  auth.onEnd((ended) => realtime.revoke(ended));
  auth.holds(realtime.sessions);
  return realtime;
}

/** Temporary files of forms are kept beside stored files, or in the system's temporary folder if storage is remote. */
function openBodies({ storage, limits }: EffectiveConfig, requests: RequestLimits, log: Logger): BodyBudget {
  const folder = storage.driver === "disk" ? join(storage.dir, "forms") : join(tmpdir(), "svc-forms");
  const files = new FormFiles(folder);
  files.sweep().catch((err) => log.warn({ err, folder }, "could not remove form files of ended processes"));
  return new BodyBudget(limits, files, (request) => requests.networkOf(request));
}

async function openApp(
  { options, databases, origins, checkHost, auth, requests, bodies, runtime, authenticate }: Parts,
  realtime: ReturnType<typeof createRealtime>,
  inFlight: HttpServer["inFlight"],
  isStopping: () => boolean,
) {
  const { app, config, log, tracing } = options;
  const { pools, replicas } = databases;
  return createApp({
    api: app.api,
    authenticate,
    mountAuth: auth.mount,
    files: fileEndpoint(runtime.storage, config.plan, (request) => requests.networkOf(request)),
    uploads: uploadEndpoint(runtime.storage, authenticate),
    graphql: config.graphql.enabled
      ? await graphqlEndpoint({
          api: app.api,
          runtime,
          settings: config.graphql,
          generatedTimeoutMs: Math.min(config.limits.generatedTimeoutMs, config.limits.statementTimeoutMs),
          authenticate,
          requests,
          limits: config.limits,
          production: config.production,
        })
      : null,
    realtimeRoutes: {
      [ticketPath]: ticketEndpoint(auth.once, authenticate),
      [grantPath]: grantEndpoint({ ...realtime, authenticate, runtime, requests }),
    },
    origins,
    checkHost,
    requests,
    bodies,
    runtime,
    auth,
    reads: realtime.reads,
    replicas,
    limits: config.limits,
    exportLimits: config.limits,
    log,
    showCause: options.showCause,
    metrics: createMetrics(
      { request: pools.request, system: pools.system, auth: pools.auth },
      inFlight,
      realtime.state,
      options.jobMetrics,
      replicas,
    ),
    metricsAccess: { token: config.metricsToken, open: !config.production },
    tracing,
    readiness: { pools, realtime: () => realtime.state(), stopping: isStopping },
    openapi: config.openapi.document
      ? {
          reference: config.openapi.reference,
          document: async () => (await import("../openapi/document.ts")).openApiDocument(app, config, origins.own),
        }
      : null,
    webDir: config.webDir,
    webFallback: config.webFallback,
    webHeaders: config.webHeaders,
    production: config.production,
    trustProxy: config.trustProxy,
  });
}
