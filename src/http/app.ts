/**
 * The HTTP surface, as one ordered list. Each entry is one file of this folder, or a neighbour's router.
 * Next hop: `procedures.ts` for calls by name, `routes.ts` for the application's own paths.
 */
import express, { type Express, type Router } from "express";
import type { Logger } from "pino";
import type { Api } from "../define/api.ts";
import { notFound, renderError } from "./errors.ts";
import { healthEndpoints, type Readiness } from "./health.ts";
import type { Metrics } from "./metrics.ts";
import { observe } from "./observe.ts";
import { procedureEndpoint, type ProcedureTransport } from "./procedures.ts";
import { applicationRoutes } from "./routes.ts";
import { staticFiles } from "./static-files.ts";

export interface AppOptions extends Omit<ProcedureTransport, "procedures"> {
  api: Api;
  authRoutes: Router;
  log: Logger;
  metrics: Metrics;
  readiness: Readiness;
  /** Folder of static files, or null. */
  webDir: string | null;
  trustProxy: boolean | number;
}

export function createApp(options: AppOptions): Express {
  const { procedures, routes } = options.api["~svc"];
  const transport = { ...options, procedures };

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("trust proxy", options.trustProxy);
  app.set("query parser", false); // routes read the query themselves

  app.use(observe(options.log, options.metrics));
  app.post("/api/query", procedureEndpoint(transport, "query"));
  app.post("/api/mutation", procedureEndpoint(transport, "mutation"));
  app.use("/api/auth", options.authRoutes);
  app.use(healthEndpoints(options.readiness, options.metrics));
  app.use(applicationRoutes(routes, transport));
  if (options.webDir) app.use(staticFiles(options.webDir));
  app.use(notFound);
  app.use(renderError);
  return app;
}
