/** Exports for svc's own packages, such as @svc/testing. Not for applications: they change without notice. */
export { type DueJobs, type Failure, openDueJobs } from "../workers/run-due.ts";
export { loadApp } from "./app/load-app.ts";
export { platformRoot } from "./cli/platform.ts";
export { describeUnawaited } from "./cli/show-failure.ts";
export { openCluster } from "./cluster/open-cluster.ts";
export type { Cluster, DatabaseUrls } from "./cluster/types.ts";
export type { EffectiveConfig } from "./config/config.ts";
export { loadConfig } from "./config/load-config.ts";
export type { AuthDefinition, AuthMail } from "./contract/auth.ts";
export type { LoadedApp } from "./contract/loaded-app.ts";
export type { Seed } from "./contract/seed.ts";
export { byNearness } from "./kit/nearest.ts";
export { migrate } from "./migrate/migrate.ts";
export { readFolder } from "./migrate/migration-files.ts";
export { replaceInvitationMailer } from "./organizations/mail-invitation.ts";
export { runSeed } from "./service/seed.ts";
export { type Service, startService } from "./service/service.ts";
export { createLog } from "./telemetry/log.ts";
