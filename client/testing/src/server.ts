/**
 * PostgreSQL for tests: a private cluster in the application's `.svc/`, shared by test files that run at the same time, or the
 * server that SVC_TEST_DATABASE_URL names. DATABASE_URL is ignored, so that tests never touch an application's data.
 * Next hop: `template.ts`.
 */
import { join } from "node:path";
import { type Cluster, openCluster } from "@svc/core/internal";

/** The data need not survive a power cut, and cloning a template is mostly disk work. */
const settings = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  wal_writer_delay: "10ms", // subscribers are only notified of written WAL
  max_connections: "300",
  max_wal_senders: "50",
  max_replication_slots: "50",
};

const prefix = "SVC_TEST_";

/** @param cwd the application's folder */
export function openServer(cwd: string): Promise<Cluster> {
  const env: NodeJS.ProcessEnv = { SVC_POSTGRES: process.env.SVC_POSTGRES };
  for (const [name, value] of Object.entries(process.env)) {
    if (name.startsWith(`${prefix}DATABASE_`)) env[name.slice(prefix.length)] = value;
  }
  const report = (line: string) => void process.stderr.write(`${line}\n`);
  return openCluster({ directory: join(cwd, ".svc"), name: "test", settings, shared: true, env, report });
}
