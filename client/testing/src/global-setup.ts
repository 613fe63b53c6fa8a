/**
 * For a run of many test files: keeps PostgreSQL running throughout, instead of starting and stopping it for each file.
 * Optional. vitest: `globalSetup: "@svc/testing/global-setup"`; Node: `--test-global-setup`.
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
