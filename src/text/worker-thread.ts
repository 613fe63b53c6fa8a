/**
 * Parses untrusted text in worker threads with a timeout: for some inputs a Markdown parser needs minutes for a few
 * kilobytes, and this process has to answer other requests.
 * Next hop: `worker-thread-entry.ts`.
 */
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { ConcurrencyLimiter } from "../kit/concurrency-limiter.ts";
import { unreadable } from "./refusals.ts";
import type { Tasks } from "./worker-thread-entry.ts";

/** In milliseconds, the same as for a conversion; five megabytes of ordinary Markdown take four seconds. */
const longest = 30_000;

/** In mebibytes, of a thread's heap. */
const memory = 768;

const limiter = new ConcurrencyLimiter(2, 100);
const script = new URL(
  import.meta.url.endsWith(".ts") ? "worker-thread-entry.ts" : "worker-thread-entry.js",
  import.meta.url,
);

/** Idle threads and the timers that end them. They do not keep the process alive. */
const idle = new Map<Worker, NodeJS.Timeout>();

/** In milliseconds: an idle thread ends after this time. */
const longestIdle = 60_000;

interface Answer {
  result?: unknown;
  refusal?: string;
}

export interface ThreadOptions {
  /** (Default: 30000) */
  timeMs?: number;
  /** The user who waits: users take turns. (Default: all who give none take turns as one) */
  user?: string;
}

/**
 * @throws SvcError DOCUMENT_UNREADABLE for a text that takes too long, too much memory or is nested too deeply; UNAVAILABLE
 *   when too many wait
 */
export function runInThread<Task extends keyof Tasks>(
  task: Task,
  args: Parameters<Tasks[Task]>,
  { timeMs = longest, user = "" }: ThreadOptions = {},
): Promise<ReturnType<Tasks[Task]>> {
  const call = async () => {
    const { result, refusal } = await answerOf(take(), { task, args }, timeMs);
    if (refusal !== undefined) throw unreadable(refusal);
    return result as ReturnType<Tasks[Task]>;
  };
  return limiter.run(call, { key: user });
}

function take(): Worker {
  const [waiting] = idle.keys();
  if (waiting) {
    clearTimeout(idle.get(waiting));
    idle.delete(waiting);
    waiting.ref();
    return waiting;
  }
  // A text cannot reach the platform's configuration.
  const thread = new Worker(script, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memory } });
  // An error of a thread that is being ended must not end this process.
  return thread.on("error", () => {});
}

function keep(thread: Worker): void {
  thread.unref();
  const clock = setTimeout(() => {
    idle.delete(thread);
    void thread.terminate();
  }, longestIdle);
  idle.set(thread, clock.unref());
}

/** Keeps a thread that answered, and ends any other one. */
async function answerOf(thread: Worker, message: object, timeMs: number): Promise<Answer> {
  const over = new AbortController();
  const { signal } = over;
  try {
    const answers: Promise<Answer[]> = once(thread, "message", { signal });
    const late = wait(timeMs, [], { signal });
    thread.postMessage(message);
    const [answer] = await Promise.race([answers, late]);
    if (answer) keep(thread);
    else void thread.terminate();
    return answer ?? { refusal: "It takes too long to read." };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_OUT_OF_MEMORY") throw error;
    return { refusal: "It takes too much memory." };
  } finally {
    over.abort();
  }
}
