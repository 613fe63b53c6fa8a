/** What svc's own packages, such as @svc/testing, need of it. For nobody else: it changes without a word. */
export { type DueJobs, type Failure, openDueJobs } from "../workers/run-due.ts";
export { platformRoot } from "./cli/platform.ts";
export type { AuthDefinition, AuthMail } from "./define/auth.ts";
export type { EffectiveConfig } from "./define/config.ts";
export { loadConfig } from "./define/load-config.ts";
export { byNearness } from "./define/nearest.ts";
export type { Seed } from "./define/seed.ts";
export { type Cluster, type DatabaseUrls, openCluster } from "./postgres/cluster.ts";
export { migrate } from "./postgres/migrate.ts";
export { readFolder } from "./postgres/migration-files.ts";
export { type LoadedApp, loadApp } from "./service/load-app.ts";
export { createLog } from "./service/log.ts";
export { runSeed } from "./service/seed.ts";
export { type Service, startService } from "./service/service.ts";
