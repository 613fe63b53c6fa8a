/**
 * Watches the server of a private cluster, and restarts a dead one at the same port on the same data: pools, listeners
 * and the reader of the log reconnect by themselves. After the last failed try it gives up. Called by `private.ts`,
 * which decides under the cluster's lock.
 */
import { processExists } from "../kit/process-exists.ts";
import { bornAt } from "./lock.ts";

/** In milliseconds: interval between two checks. */
const lookEvery = 250;
/** In milliseconds: pause before each restart. After the last one it gives up. */
const pauses = [0, 500, 2_000, 5_000, 10_000];
/** In milliseconds: after this uptime, the next death counts as the first again. */
const well = 60_000;

export interface Supervised {
  /** The server's process when watching begins. */
  pid: number;
  /**
   * Called when the server has died.
   *
   * @returns the pid of the server that runs now, a new one or one that another process started; null if another
   *   process will start it, or it is no longer needed; an error if further tries cannot succeed
   */
  revive(): Promise<number | null | Error>;
  report(line: string): void;
}

export interface Supervision {
  /** Resolves with the last error once restarting has been given up. */
  failed: Promise<Error>;
  /** Stops watching, and waits for a restart in progress. */
  close(): Promise<void>;
}

export function supervise({ pid, revive, report }: Supervised): Supervision {
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
  let watched = watch(pid);
  let since = performance.now();
  let deaths = 0;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let reviving: Promise<void> | undefined;

  const next = (milliseconds: number) => {
    if (!closed) timer = setTimeout(look, milliseconds).unref();
  };
  const look = () => {
    if (watched()) return next(lookEvery);
    if (performance.now() - since > well) deaths = 0;
    const pause = pauses[deaths++] ?? 0;
    timer = setTimeout(() => {
      reviving = start();
    }, pause).unref();
  };
  const start = async () => {
    try {
      const found = await revive();
      if (found instanceof Error) return fail(found);
      if (found === null) {
        deaths = 0; // another process restarts it
        return next(lookEvery);
      }
      since = performance.now();
      watched = watch(found);
      next(lookEvery);
    } catch (error) {
      since = performance.now();
      if (deaths < pauses.length) {
        report(`PostgreSQL did not start again; trying once more in ${(pauses[deaths] ?? 0) / 1000} s`);
        return next(0);
      }
      fail(error as Error);
    }
  };

  next(lookEvery);
  return {
    failed,
    async close() {
      closed = true;
      clearTimeout(timer);
      await reviving;
      clearTimeout(timer);
    },
  };
}

/** @returns whether the process still lives; a later one with its pid does not count */
function watch(pid: number): () => boolean {
  if (process.platform !== "linux") return () => processExists(pid); // a stricter check would need a child process
  const born = bornAt(pid);
  return () => born !== null && bornAt(pid) === born;
}
