/**
 * The HTTP surface: observation of every exchange, then calls by name, stored files and the application's routes, then
 * Express with all other paths.
 * Next hop: `procedures.ts` for calls by name, `../storage/route.ts` for files, `route-table.ts` for routes, `express-app.ts`
 * for the rest.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Auth } from "../auth/create-auth.ts";
import { isGraphqlPath } from "../graphql/endpoint.ts";
import type { CheckHost } from "../http/allowed-hosts.ts";
import { answerMethods, everyMethod, routedMethods } from "../http/allowed-methods.ts";
import { refuseEncodedBody } from "../http/body.ts";
import { type BodyBudget, handledBy } from "../http/body-budget.ts";
import { createCors } from "../http/cors.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { sendError } from "../http/errors.ts";
import { defaultHeaders, observer, requireOneHost, type ShowCause } from "../http/exchange.ts";
import type { OriginPolicy } from "../http/origin-policy.ts";
import type { RequestLimits } from "../http/request-limits.ts";
import { loadedOnce } from "../kit/loaded-once.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isFilePath } from "../storage/route.ts";
import { isUploadPath } from "../storage/upload-route.ts";
import type { Tracing } from "../telemetry/span.ts";
import { batchEndpoint } from "./batch.ts";
import { type ExportLimits, exportEndpoint, isExportPath } from "./export.ts";
import type { ExpressOptions } from "./express-app.ts";
import { type ProcedureTransport, procedureEndpoint } from "./procedures.ts";
import { routeTable } from "./route-table.ts";
import { SessionStreams } from "./session-streams.ts";

export interface AppOptions extends Omit<ProcedureTransport, "procedures">, Omit<ExpressOptions, "streams"> {
  /** Ends streams with the session of their caller. */
  auth: Pick<Auth, "onEnd" | "hasSession" | "holds">;
  files: Endpoint;
  uploads: Endpoint;
  /** null: GraphQL is off. */
  graphql: Endpoint | null;
  exportLimits: ExportLimits;
  origins: OriginPolicy;
  checkHost: CheckHost | null;
  requests: RequestLimits;
  bodies: BodyBudget;
  log: Logger;
  /** undefined: tracing is off. */
  tracing: Tracing | undefined;
  /** undefined: causes of errors are only logged. */
  showCause: ShowCause | undefined;
  /** Whether to suppress hints about unlisted origins, and to load Express before the first request. */
  production: boolean;
}

export async function createApp(options: AppOptions): Promise<RequestListener> {
  const { procedures } = options.api["~svc"];
  const transport = { ...options, procedures };
  const headers = defaultHeaders(options.origins);
  const observe = observer(options.log, options.metrics, headers, options.tracing, options.showCause);
  const query = procedureEndpoint(transport, "query");
  const mutation = procedureEndpoint(transport, "mutation");
  const calls = new Map<string, Endpoint>([
    ["/api/query", query],
    ["/api/mutation", mutation],
    ["/api/batch", batchEndpoint(transport)],
  ]);
  // The same procedures at a path each, as /openapi.json lists them.
  for (const { kind, name } of procedures.values()) {
    if (kind === "query") calls.set(`/api/query/${name}`, (request, response) => query(request, response, name));
    else if (kind === "mutation")
      calls.set(`/api/mutation/${name}`, (request, response) => mutation(request, response, name));
  }
  const streams = new SessionStreams(options.metrics.inFlight, options.auth.hasSession);
  options.auth.onEnd((ended) => void streams.end(ended));
  options.auth.holds(() => streams.sessions());
  const exports = exportEndpoint({ ...transport, streams, limits: options.exportLimits });
  const cors = createCors(options.origins, options.production ? undefined : options.log);
  const routeOf = routeTable(options.api["~svc"].routes, { ...options, streams });
  // Loading Express takes a tenth of a start. In production nobody should wait for it.
  const others = loadedOnce(async () => (await import("./express-app.ts")).expressApp({ ...options, streams }));
  if (options.production) await Promise.all([others(), options.metrics.registry()]);

  // Calls by name and stored files are nearly all of the traffic. Known paths need no router, and Express would cost as
  // much as reading, checking and answering such a call (docs/adr/0004-calls-before-express.md).
  return (request, response) => {
    const { span } = observe(request, response);
    if (span) span.within(() => handle(request, response));
    else handle(request, response);
  };

  function handle(request: IncomingMessage, response: ServerResponse): void {
    try {
      requireOneHost(request);
      options.checkHost?.(request);
      if (request.headers.origin !== undefined && cors(request, response)) return;
      request.url = originForm(request.url ?? "");
      if (!probes.has(pathOf(request.url))) options.requests.countAddress(request);
      refuseEncodedBody(request);
    } catch (error) {
      sendError(response, error);
      return;
    }
    options.bodies.begin(request, response);
    const endpoint = endpointOf(request);
    if (!endpoint) answerOtherwise(request, response).catch((error) => sendError(response, error));
    else
      handledBy(
        request,
        endpoint(request, response).catch((error) => sendError(response, error)),
      );
  }

  /** Answers Express's paths, and requests with a method that their path does not support. */
  async function answerOtherwise(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = "" } = request;
    const path = pathOf(url);
    const isCall = calls.has(path);
    let methods: readonly string[] = [];
    if (isCall) methods = ["POST"];
    else if (isExportPath(path)) methods = ["GET"];
    else if (isFilePath(path)) methods = ["GET", "HEAD"];
    else if (method === "OPTIONS")
      methods = url === "*" ? everyMethod : [...routedMethods((await others()).router, path)];
    if (methods.length === 0) (await others())(request, response);
    else answerMethods(response, method, methods, isCall ? "Procedures are called with POST." : undefined);
  }

  function endpointOf({ method, url = "" }: IncomingMessage): Endpoint | undefined {
    const path = pathOf(url);
    const call = method === "POST" ? calls.get(path) : undefined;
    if (call) return call;
    if (method === "GET" && isExportPath(path)) return exports;
    if (isUploadPath(path)) return options.uploads;
    if (options.graphql && isGraphqlPath(path)) return options.graphql;
    if ((method === "GET" || method === "HEAD") && isFilePath(path)) return options.files;
    const route = routeOf(method, path);
    return route && ((request, response) => route.endpoint(request, response, path, route.params));
  }
}

/** Probes are never rate limited. */
const probes = new Set(["/healthz", "/readyz", "/metrics"]);

/**
 * The path and query of a request's target. A client may send a whole URL, as to a proxy (RFC 9112, section 3.2.2).
 *
 * @throws SvcError BAD_REQUEST for an invalid URL; Express would answer with HTML
 */
function originForm(target: string): string {
  if (target.startsWith("/") || target === "*") return target;
  if (!URL.canParse(target)) throw new SvcError("BAD_REQUEST", "The address is not a URL.");
  const rest = target.replace(/^[^:]*:\/\/[^/?#]*/, "");
  return rest.startsWith("/") ? rest : `/${rest}`;
}

function pathOf(url: string): string {
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
}
