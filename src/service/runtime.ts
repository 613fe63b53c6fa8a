/**
 * Creates the services that a process needs to run an application's calls, from HTTP or from the queue.
 * Next hop: `src/call/invoke.ts`.
 */
import type { Logger } from "pino";
import { createAiServices } from "../ai/services.ts";
import type { Runtime } from "../call/invoke.ts";
import { rateLimiter } from "../call/rate-limit.ts";
import type { EffectiveConfig } from "../config/config.ts";
import type { LoadedApp } from "../contract/loaded-app.ts";
import type { ProcedureKind } from "../contract/procedure.ts";
import { followedTables } from "../crud/followed-tables.ts";
import { keepPlans } from "../crud/kept-plans.ts";
import { EngineProcesses } from "../documents/engine-processes.ts";
import type { ShowCause } from "../http/exchange.ts";
import { requestDatabases, systemDatabase } from "../postgres/database.ts";
import type { Pools, PoolUrls } from "../postgres/pools.ts";
import { describePublication } from "../realtime/publication.ts";
import { searchTables } from "../search/searchable.ts";
import { isGrantedList, isPublicQuery } from "../server/rerun.ts";
import { describeMissingFolder } from "../storage/missing-folder.ts";
import { createStorage } from "../storage/storage.ts";

/** What a process runs an application with. */
export interface ProcessOptions {
  app: LoadedApp;
  config: EffectiveConfig;
  urls: PoolUrls;
  /** Newest first; all processes have the same. They sign sessions, tokens and read grants. */
  secrets: readonly string[];
  log: Logger;
  /** Shows the author the cause of a failed request, job or step, while developing. (Default: it is only logged) */
  showCause?: ShowCause | undefined;
}

/** @param url where the service listens: with port 0 only a started one knows */
export function createRuntime(
  { app, config, secrets, log, showCause }: ProcessOptions,
  pools: Pools,
  { url = `http://localhost:${config.port}`, auth }: { url?: string | undefined; auth?: Runtime["auth"] } = {},
): Runtime {
  const { procedures } = app.api["~svc"];
  const named = (kind: ProcedureKind) =>
    [...procedures.values()].filter((procedure) => procedure.kind === kind).map(({ name }) => name);
  const internal = named("internal");
  const known = new Set(internal);
  keepPlans(pools.request, pools.system);
  const storage = createStorage({ config, secrets, pool: pools.system, log });
  if (config.production) {
    const described = [
      describeMissingFolder(config.storage, storage.driver, pools.system),
      describePublication(pools.system, followedTables(app.api, app.schema)),
    ];
    for (const one of described) {
      one.then(
        (text) => text && log.error(text),
        () => {}, // the database is away: calls say so
      );
    }
  }
  return {
    log,
    root: config.cwd,
    baseUrl: config.auth.url ?? url,
    ...(auth && { auth }),
    ...(showCause && { showCause }),
    storage,
    ai: createAiServices(config.ai, pools.system),
    requestPool: pools.request,
    systemPool: pools.system,
    limits: config.limits,
    rateLimit: rateLimiter(pools.system, config.production),
    documents: { ...config.documents, children: new EngineProcesses() },
    production: config.production,
    requestDatabase: requestDatabases(app.schema, config.production),
    systemDatabase: systemDatabase(pools.system, app.schema),
    isPublicQuery: (name) => isPublicQuery(procedures.get(name)),
    takesData: (name) => isPublicQuery(procedures.get(name)) || isGrantedList(name, app.api["~svc"].crud),
    queryNames: named("query"),
    channelNames: [...app.api["~svc"].channels.keys()],
    searchTables: searchTables(app.schema),
    workflows: app.api["~svc"].workflows,
    grounding: app.api["~svc"].grounding,
    internals: {
      has: (name) => known.has(name),
      list: () => internal,
      inputOf: (name) => (procedures.get(name)?.inputIsFirst ? procedures.get(name)?.input : undefined),
    },
  };
}
