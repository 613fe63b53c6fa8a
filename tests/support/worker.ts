/** A worker under test on the test file's own database, and ways to inspect its queue. */
import { fork } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import type { Api } from "../../src/contract/api.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { startWorker, type Worker, type WorkerOptions } from "../../workers/runner.ts";
import * as schema from "../fixture/backend/schema.ts";
import type { Database } from "./database.ts";
import { secret } from "./service.ts";

/** Starts a worker; it is stopped at the end of the file at the latest. */
export type StartWorker = (options?: Partial<WorkerOptions>) => Promise<Worker>;

/** Workers for a test file. Call it at the top of the file, after `database()`. */
export function workers(db: Database, api: Api): StartWorker {
  const started: Worker[] = [];
  afterAll(() => Promise.all(started.map((one) => one.stop())).then(() => {}));
  return async (options = {}) => {
    const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
    const running = startWorker({
      secrets: [secret],
      app: { api, auth: defineAuth({}), schema },
      config,
      urls: db.urls,
      log: createLog("silent"),
      ...options,
    });
    started.push(running);
    await running.ready;
    return running;
  };
}

export interface JobRow {
  id: string;
  attempts: number;
  last_error: string | null;
  locked_by: string | null;
  payload: { procedure: string; args: unknown; caller: { kind: string; userId?: string } };
}

/** The jobs in the queue, oldest first, without the maintenance jobs of every worker. */
export const jobs = (db: Database): Promise<JobRow[]> =>
  db.sql<JobRow & Record<string, unknown>>(
    `select j.* from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
      where t.identifier <> 'sweep-storage' order by j.id`,
  );

/**
 * Lets a process of this folder live until it kills itself, or until a condition holds.
 *
 * @param words its arguments after the databases' URLs and the secret
 * @returns whether it killed itself
 */
export async function dies(db: Database, script: string, words: string[], holds: () => Promise<boolean>) {
  const child = fork(join(import.meta.dirname, script), [JSON.stringify(db.urls), secret, ...words]);
  const died = new Promise<boolean>((resolve) => child.once("exit", () => resolve(true)));
  let isOver = false;
  const held = until(async () => isOver || (await holds())).then(() => false);
  isOver = await Promise.race([died, held]);
  await held;
  child.kill("SIGKILL");
  await died;
  return isOver;
}

/** Waits until a condition holds; the test's own timeout ends the wait. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await sleep(20);
}
