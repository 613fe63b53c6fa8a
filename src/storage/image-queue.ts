/**
 * Whose picture is made next: callers take turns, few pictures are made at once, and of the costly ones one, so that those
 * that take a moment have a place beside it. Who has left is not waited for.
 */
import type { StorageObject } from "../contract/storage.ts";
import { Gate } from "../kit/concurrency-limiter.ts";
import type { TransformOptions } from "./transform-options.ts";

/** At once in a process; the rest of it has to go on answering. */
const maxRunning = 2;

/** Waiting behind these, and behind the costly one; whoever comes later is told to try again. */
const maxWaiting = 100;

export interface Asker {
  /** Such as a network. (Default: one that all share who give none) */
  network?: string;
  /** Aborted when nobody is there any more to be answered. (Default: never) */
  signal?: AbortSignal;
}

/** Pixels of what counts as costly; an AVIF takes the work of one four times as large. */
const costlyPixels = 4_000_000;

/** Bytes of an original that is to be made in its own size, which only its head would tell. */
const costlyBytes = 1024 * 1024;

/** Whether a picture may take a processor for seconds. A guess from what is known before it is opened. */
export function isCostly({ size, type }: StorageObject, { w, h, f }: TransformOptions, webp: boolean): boolean {
  if (w === undefined && h === undefined) return size > costlyBytes;
  const format = f ?? (webp ? "image/webp" : type);
  const pixels = (w ?? h ?? 0) * (h ?? w ?? 0);
  return pixels * (format.endsWith("avif") ? 4 : 1) > costlyPixels;
}

/** A picture that somebody waits for. */
interface Job<T> {
  result: Promise<T>;
  askers: number;
  /** Aborted when the last of them has left. */
  alone: AbortController;
}

export class ImageQueue<T> {
  readonly #gate = new Gate(maxRunning, maxWaiting);
  readonly #costly = new Gate(1, maxWaiting);
  readonly #jobs = new Map<string, Job<T>>();

  /** Runs the call when the asker's turn has come. @throws SvcError UNAVAILABLE when too many wait, or nobody does any more */
  turn({ network = "", signal }: Asker, costly: boolean, call: () => Promise<T>): Promise<T> {
    const turn = { key: network, ...(signal && { signal }) };
    const ordinary = () => this.#gate.run(call, turn);
    return costly ? this.#costly.run(ordinary, turn) : ordinary();
  }

  /**
   * Gives everybody who asks for the same at the same time one and the same.
   *
   * @param start gets the first one's network, and a signal that is aborted when all of them have left
   * @throws as `start`; the signal's reason for an asker who left
   */
  async shared(id: string, { network, signal }: Asker, start: (asker: Asker) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const left = this.#jobs.get(id);
    if (left?.alone.signal.aborted) {
      // All had left. What had begun goes on, and does for whoever comes now; what still waited has been called off.
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
