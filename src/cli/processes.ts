/**
 * `svc start --processes N`: this process opens the database and starts N others, which share one port. It starts a
 * process that has ended again, adds their metrics up, and stops them in order.
 * Next hop: `start.ts`, which each of them runs. https://nodejs.org/api/cluster.html
 */
import cluster, { type Worker } from "node:cluster";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { DefinitionError } from "../kit/definition-error.ts";
import type { ChangeSender } from "../realtime/shared-changes.ts";
import { askMetrics, sharedVariable } from "../server/shared-metrics.ts";
import { say } from "./command.ts";
import { rememberMetrics, sumMetrics } from "./process-metrics.ts";

const most = 64;
/** In milliseconds, before a process that has ended is started again; doubles while it ends within a minute. */
const pause = { least: 250, most: 30_000 };

/** @throws DefinitionError unless it is "auto" or a number from 1 to 64 @returns "auto": one for each core */
export function numberOfProcesses(text: string): number {
  const count = text === "auto" ? Math.min(availableParallelism(), most) : Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= most) return count;
  throw new DefinitionError(`--processes ${text} is not a number of processes.`, {
    hint: `Give a number from 1 to ${most}, or auto for one process for each core.`,
  });
}

interface Options {
  count: number;
  /** Arguments of `svc` for each process. */
  words: readonly string[];
  /** Of the first process alone, in addition. */
  first: readonly string[];
  /** Environment of the processes, in addition to ours. */
  env: NodeJS.ProcessEnv;
  /** Reads the write-ahead log for all. */
  changes: ChangeSender;
  stopped: Promise<unknown>;
  ready: (address: string) => void;
}

/** Ends when `stopped` does, and all processes have ended. @throws when a process cannot start at all */
export async function runProcesses({ count, words, first, env, changes, stopped, ready }: Options): Promise<void> {
  let isStopping = false;
  const running = new Map<number, Worker>();
  const serving = new Set<Worker>();

  const start = (index: number): Worker => {
    // Changes are sent as bytes, which JSON would make several times as long.
    cluster.setupPrimary({ args: [...words, ...(index === 0 ? first : [])], serialization: "advanced" });
    const worker = cluster.fork({ ...env, [sharedVariable]: "1" });
    running.set(index, worker);
    // A message to a process that was killed at that moment: its "exit" follows. One that never ran has none.
    worker.on("error", (error) => {
      if (worker.process.pid === undefined) throw error;
    });
    changes.serve(worker);
    rememberMetrics(worker);
    worker.on("message", (message: unknown) => {
      // Who asks has got the question from a client, so it serves.
      if (message === "ready" || message === askMetrics) serving.add(worker);
      if (message === askMetrics) void answerMetrics(worker, serving);
    });
    worker.on("exit", () => serving.delete(worker));
    return worker;
  };
  /** Resolves to nothing when it is ready. */
  const begin = (worker: Worker) =>
    new Promise<NotStarted | undefined>((resolve) => {
      worker.on("message", (message: unknown) => message === "ready" && resolve(undefined));
      worker.on("exit", (_code, signal) => resolve({ pid: worker.process.pid, signal }));
    });
  /** Starts a process again whenever it has ended. */
  const keep = async (index: number, begun: Worker) => {
    for (let worker = begun, wait = pause.least; ; ) {
      const since = performance.now();
      const [code, signal] = await ended(worker);
      running.delete(index);
      if (isStopping) return;
      if (performance.now() - since > 60_000) wait = pause.least;
      say(`Process ${worker.process.pid} ended (${signal ?? `exit code ${code}`}). Another one is started.`);
      await Promise.race([sleep(wait, undefined, { ref: false }), stopped]);
      if (isStopping) return;
      wait = Math.min(wait * 2, pause.most);
      worker = start(index);
    }
  };

  let address = "";
  cluster.on("listening", (_worker, { address: host, port }) => {
    address = `http://${host && host !== "::" && host !== "0.0.0.0" ? host : "localhost"}:${port}`;
  });
  const workers = Array.from({ length: count }, (_, index) => start(index));
  const stop = () => {
    isStopping = true;
    for (const worker of running.values()) worker.process.kill("SIGTERM");
  };
  const begun = await Promise.race([Promise.all(workers.map(begin)), stopped.then(() => [])]);
  const failed = begun.find((one) => one !== undefined);
  if (failed) {
    stop();
    await Promise.all(workers.map(ended));
    throw notStarted(failed);
  }
  const kept = workers.map((worker, index) => keep(index, worker));
  if (begun.length > 0) ready(address);
  await stopped;
  stop();
  await Promise.all(kept);
}

interface NotStarted {
  pid: number | undefined;
  /** What killed it. */
  signal?: string;
}

const notStarted = ({ pid, signal }: NotStarted) =>
  signal
    ? new DefinitionError(`Process ${pid} was killed while it started (${signal}).`, {
        hint: "The kernel kills processes when memory is used up: `dmesg` says so. Otherwise start the service again.",
      })
    : new DefinitionError("A process could not start.", { hint: "What it printed above says why." });

/** @returns the exit code, or the signal. `once` of node:events would reject at an "error" before the end. */
const ended = (worker: Worker) =>
  new Promise<[code: number | null, signal?: string]>((resolve) => {
    if (worker.isDead()) resolve([worker.process.exitCode]);
    else worker.once("exit", (code, signal) => resolve([code, signal]));
  });

async function answerMetrics(worker: Worker, serving: Iterable<Worker>): Promise<void> {
  const text = await sumMetrics(serving).catch(() => null);
  if (worker.isConnected()) worker.send({ [askMetrics]: text });
}
