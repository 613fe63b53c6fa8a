/**
 * Transforms images in processes that can be killed: libvips cannot be interrupted, and an image can be built to take
 * minutes of a processor and gigabytes of memory. A process transforms one image after the other; it is killed when
 * an image exceeds a limit.
 * Next hop: `image-child.ts` is the other end.
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { extname, join } from "node:path";
import { startConfined, usageOf } from "../kit/confined-process.ts";
import { ConfinedWorker } from "../kit/confined-worker.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Answer, Order } from "./image-child.ts";
import type { Image, Source } from "./image-engine.ts";
import { type TransformOptions, UnreadableImage } from "./transform-options.ts";

/** An image that exceeded a limit. It would do so again. */
export class ImageTooCostly extends UnreadableImage {}

export interface ImageLimits {
  /** Processor time for one image, in milliseconds. Measured on Linux. (Default: 10000) */
  processorMs?: number;
  /**
   * Clock time for one image, in milliseconds. A busy machine gives it part of a processor: where processor time is measured,
   * the image may be asked for again. (Default: 60000)
   */
  timeMs?: number;
  /** Resident memory in bytes. Measured on Linux. (Default: 1073741824, 1 GiB) */
  memoryBytes?: number;
}

/** Milliseconds between two measurements of a process. Most images are done before the first. */
const watchEvery = 100;
/** In bytes. A larger process ends after its image, since it would keep the memory. */
const mostKept = 256 * 1024 * 1024;

const program = join(import.meta.dirname, `image-child${extname(import.meta.filename)}`);

/** A process without a task yet. It has no environment, so that images cannot reach the platform's configuration. */
export function startImageChild(): ChildProcessWithoutNullStreams {
  return startConfined(program, ["sharp"], ["--allow-addons"]);
}

type Child = ConfinedWorker<Order, Answer>;

function refuseKilled(): never {
  throw new ImageTooCostly(
    "The process that made this image was killed twice, as when the machine has no memory left.",
  );
}

/** The image may be good: packages are missing, as during `npm ci` of the next release. */
const notStarted = (cause: string) =>
  new SvcError("UNAVAILABLE", "No image can be made at the moment.", { retryAfter: 5, cause });

const tooCostly = (what: string) =>
  new ImageTooCostly(`This image takes too ${what}. Ask for a smaller one, or for another format.`);

const busy = () => new SvcError("UNAVAILABLE", "The machine is too busy to make this image.", { retryAfter: 30 });

export class ImageChildren {
  readonly #idle: Child[] = [];
  readonly #limits: Required<ImageLimits>;
  /** Processes that were started, and how many of them were killed for exceeding a limit. */
  started = 0;
  killed = 0;

  constructor({ processorMs = 10_000, timeMs = 60_000, memoryBytes = 1024 ** 3 }: ImageLimits = {}) {
    this.#limits = { processorMs, timeMs, memoryBytes };
  }

  /**
   * When something else kills its process, such as the kernel without memory, the image is made once more.
   *
   * @throws UnreadableImage for an image that cannot be made; ImageTooCostly when it took too much time or memory; SvcError
   *   UNAVAILABLE when the machine gave it too little time
   */
  async transform(source: Source, options: TransformOptions, webp: boolean): Promise<Image> {
    return (await this.#try(source, options, webp)) ?? (await this.#try(source, options, webp)) ?? refuseKilled();
  }

  /** @returns null when something else killed its process */
  async #try(source: Source, options: TransformOptions, webp: boolean): Promise<Image | null> {
    const order: Order = { options, webp, ...(typeof source === "string" && { path: source }) };
    const bytes = typeof source === "string" ? undefined : source;
    const child = this.#take();
    const stopWatching = this.#watch(child);
    const answered = await child.ask(order, bytes);
    const tooMuch = stopWatching();
    if (!answered && tooMuch) throw tooMuch;
    if (!answered && child.process.signalCode === "SIGKILL") return null;
    if (!answered && child.process.signalCode === null) throw notStarted(child.log);
    if (!answered) throw new UnreadableImage("This image cannot be read.");
    await this.#keep(child);
    const [{ type, refusal }, made] = answered;
    if (type === undefined) throw new UnreadableImage(refusal ?? "This image cannot be read.");
    return { type, bytes: made };
  }

  close(): void {
    for (const child of this.#idle.splice(0)) child.end();
  }

  #take(): Child {
    for (let child = this.#idle.pop(); child; child = this.#idle.pop()) {
      if (child.isOver) continue;
      child.hold("ref");
      return child;
    }
    this.started++;
    return new ConfinedWorker(startImageChild());
  }

  async #keep(child: Child): Promise<void> {
    if ((await usageOf(child.process.pid)).memoryBytes > mostKept) return child.end();
    child.hold("unref");
    this.#idle.push(child);
  }

  /** Kills a process that exceeds a limit. @returns a function that stops watching and returns the reason of a kill */
  #watch(child: Child): () => Error | undefined {
    const { processorMs, timeMs, memoryBytes } = this.#limits;
    const began = performance.now();
    let reason: Error | undefined;
    let before: number | undefined;
    let isOver = false;
    const kill = (why: Error) => {
      // After this image it may make another one.
      if (reason !== undefined || isOver) return;
      reason = why;
      this.killed++;
      child.end();
    };
    const timer = setInterval(async () => {
      const used = await usageOf(child.process.pid);
      before ??= used.processorMs; // includes earlier images and a tenth of a second of this one
      const isLate = performance.now() - began > timeMs;
      if (used.processorMs - before > processorMs || (isLate && used.processorMs === 0))
        kill(tooCostly("long to make"));
      else if (used.memoryBytes > memoryBytes) kill(tooCostly("much memory"));
      else if (isLate) kill(busy());
    }, watchEvery);
    return () => {
      clearInterval(timer);
      isOver = true;
      return reason;
    };
  }
}
