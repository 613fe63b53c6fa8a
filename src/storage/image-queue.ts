/**
 * Decides which image is made next. Clients take turns, few images are made at once, and only one costly one, so that
 * quick ones have a place beside it. Clients that disconnected are skipped.
 * Next hop: `image-children.ts` makes it, within limits of time and memory.
 */
import type { StorageObject } from "../contract/storage.ts";
import { ConcurrencyLimiter } from "../kit/concurrency-limiter.ts";
import type { TransformOptions } from "./transform-options.ts";

/** Images at once in a process; the process must keep answering other requests. */
const maxRunning = 2;

/** Maximum waiting behind these, and behind the costly one; further clients get 503 with Retry-After. */
const maxWaiting = 100;

export interface Asker {
  /** For example a network. (Default: one key shared by all who give none) */
  network?: string;
  /** Aborted when the client has disconnected. (Default: never) */
  signal?: AbortSignal;
}

/** Pixels from which an image is costly; an AVIF takes as much work as an image four times as large. */
const costlyPixels = 4_000_000;

/** Bytes from which an original is costly without `w` and `h`: its pixels are only known after it is opened. */
const costlyBytes = 1024 * 1024;

/** Whether an image may take a processor for seconds. A guess before it is opened. */
export function isCostly({ size, type }: StorageObject, { w, h, f }: TransformOptions, webp: boolean): boolean {
  if (w === undefined && h === undefined) return size > costlyBytes;
  const format = f ?? (webp ? "image/webp" : type);
  const pixels = (w ?? h ?? 0) * (h ?? w ?? 0);
  return pixels * (format.endsWith("avif") ? 4 : 1) > costlyPixels;
}

/** An image that clients wait for. */
interface Job<T> {
  result: Promise<T>;
  askers: number;
  /** Aborted when the last of them has left. */
  alone: AbortController;
}

export class ImageQueue<T> {
  readonly #limiter = new ConcurrencyLimiter(maxRunning, maxWaiting);
  readonly #costly = new ConcurrencyLimiter(1, maxWaiting);
  readonly #jobs = new Map<string, Job<T>>();

  /** Runs the call when it is the client's turn. @throws SvcError UNAVAILABLE when too many wait, or all have left */
  turn({ network = "", signal }: Asker, costly: boolean, call: () => Promise<T>): Promise<T> {
    const turn = { key: network, ...(signal && { signal }) };
    const ordinary = () => this.#limiter.run(call, turn);
    return costly ? this.#costly.run(ordinary, turn) : ordinary();
  }

  /**
   * Clients that ask for the same image at the same time share one run.
   *
   * @param start gets the first one's network, and a signal that is aborted when all of them have left
   * @throws as `start`; the signal's reason for an asker who left
   */
  async shared(id: string, { network, signal }: Asker, start: (asker: Asker) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const left = this.#jobs.get(id);
    if (left?.alone.signal.aborted) {
      // All clients had left. A run that had begun continues, and its result is used; one that still waited was cancelled.
      const made = await left.result.catch(() => undefined);
      if (made !== undefined) return made;
    }
    const job = this.#jobs.get(id) ?? this.#begin(id, network, start);
    job.askers++;
    if (!signal) return job.result;
    return new Promise<T>((resolve, reject) => {
      const leave = () => {
        reject(signal.reason);
        if (--job.askers === 0) job.alone.abort(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      job.result.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
    });
  }

  #begin(id: string, network: string | undefined, start: (asker: Asker) => Promise<T>): Job<T> {
    const alone = new AbortController();
    const result = start({ ...(network !== undefined && { network }), signal: alone.signal });
    const job: Job<T> = { result, askers: 0, alone };
    this.#jobs.set(id, job);
    const over = () => void this.#jobs.delete(id);
    result.then(over, over);
    return job;
  }
}
