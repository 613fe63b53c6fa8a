/**
 * For a test run of many files: keeps PostgreSQL running from the first to the last, where each file would start and stop
 * it. Works without it too. vitest: `globalSetup: "@svc/testing/global-setup"`; Node: `--test-global-setup`.
 */
import type { Cluster } from "@svc/core/internal";
import { openServer } from "./server.ts";

let cluster: Cluster | undefined;

export async function setup(): Promise<void> {
  cluster = await openServer(process.cwd());
}

export async function teardown(): Promise<void> {
  await cluster?.stop();
}

export { setup as globalSetup, teardown as globalTeardown };
