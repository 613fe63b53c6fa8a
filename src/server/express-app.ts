/**
 * Express with all paths that `app.ts` does not answer itself, as one ordered list. Each entry is one file of this folder,
 * or a neighbour's router.
 * Next hop: `routes.ts` for the application's own paths, `../auth/create-sign-in.ts` for those below /api/auth.
 */
import express, { type Express, type RequestHandler, Router } from "express";
import type { Api } from "../contract/api.ts";
import type { RouteDefinition } from "../contract/http-route.ts";
import { answerMethods, routedMethods } from "../http/allowed-methods.ts";
import { handledBy } from "../http/body-budget.ts";
import { notFound, renderError } from "../http/errors.ts";
import { setCommonHeaders } from "../http/exchange.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { MetricsAccess } from "../telemetry/metrics-access.ts";
import { healthEndpoints, type Readiness } from "./health.ts";
import { type OpenApiEndpoints, openApiEndpoints } from "./openapi.ts";
import { byShape } from "./route-table.ts";
import { type RouteTransport, routeEndpoint } from "./routes.ts";
import { staticFiles } from "./static-files.ts";

export interface ExpressOptions extends RouteTransport {
  api: Api;
  mountAuth: (router: Router) => Promise<void>;
  /** By path. */
  realtimeRoutes: Record<string, RequestHandler>;
  metrics: Metrics;
  metricsAccess: MetricsAccess;
  readiness: Readiness;
  /** null: no API description. */
  openapi: OpenApiEndpoints | null;
  /** Folder of static files, or null. */
  webDir: string | null;
  /** The file of it that answers visits of paths without a file. */
  webFallback: string | undefined;
  /** Replace or extend the headers of static files; "" removes one. */
  webHeaders: Readonly<Record<string, string>>;
  trustProxy: boolean | number;
}

export async function expressApp(options: ExpressOptions): Promise<Express> {
  const { api, webDir, webFallback, webHeaders } = options;
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("trust proxy", options.trustProxy);
  app.set("case sensitive routing", true);
  app.set("strict routing", true);
  app.set("query parser", false); // routes read the query themselves

  app.use(setCommonHeaders);
  // Strict paths: case and extra slashes count. Otherwise another spelling of a path would bypass its limit.
  const auth = Router({ caseSensitive: true, strict: true });
  await options.mountAuth(auth);
  app.use("/api/auth", auth);
  for (const [path, endpoint] of Object.entries(options.realtimeRoutes)) app.post(path, endpoint);
  app.use(healthEndpoints(options.readiness, options.metrics, options.metricsAccess));
  app.use(openApiEndpoints(options.openapi));
  app.use(applicationRoutes(api["~svc"].routes, options));
  if (webDir) app.use(staticFiles(webDir, webHeaders, webFallback));
  app.use((request, response, next) => {
    const methods = routedMethods(app.router, request.path);
    if (methods.size > 0) answerMethods(response, request.method, methods);
    else next();
  });
  app.use(notFound);
  app.use(renderError);
  return app;
}

/** For what `route-table.ts` leaves to Express: HEAD, the methods of a path, and routes that could be taken for built-in ones. */
function applicationRoutes(routes: readonly RouteDefinition[], transport: RouteTransport): Router {
  // Strict paths: /api/a and /api/a/ differ, and so does letter case.
  const router = Router({ caseSensitive: true, strict: true });
  for (const route of routes.toSorted(byShape)) {
    const endpoint = routeEndpoint(route, transport);
    router[route.verb](route.path, (request, response) => {
      const work = endpoint(request, response, request.path, request.params as Record<string, string>);
      handledBy(request, work);
      return work;
    });
  }
  return router;
}
