/**
 * A confined process that does one task after the other, with messages over its standard input and output.
 * Next hop: `confined-process.ts` starts it, `frames.ts` writes the messages.
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Socket } from "node:net";
import { readFrames, writeFrame } from "./frames.ts";

/** In milliseconds. An idle process ends after this time. */
const longestIdle = 60_000;

export class ConfinedWorker<Order extends object, Answer> {
  readonly process: ChildProcessWithoutNullStreams;
  #clock: NodeJS.Timeout | undefined;
  /** Of the task that it does now. */
  #resolve: ((answered: [Answer, Buffer] | null) => void) | undefined;
  /** The end of what it has written to stderr, as when it could not start. */
  log = "";
  /** Whether it was ended because its answer is too large. */
  isTooLarge = false;

  /** @param largest bytes of an answer (Default: 256 MiB) */
  constructor(started: ChildProcessWithoutNullStreams, largest?: number) {
    this.process = started;
    this.process.stderr.on("data", (text) => {
      this.log = (this.log + text).slice(-4_000);
    });
    this.process.stdin.on("error", () => {}); // the "close" event says why
    this.process.on("error", () => this.#settle(null));
    this.process.on("close", () => this.#settle(null));
    const refuse = () => {
      this.isTooLarge = true;
      this.end();
    };
    readFrames<Answer>(this.process.stdout, (answer, bytes) => this.#settle([answer, bytes]), { largest, refuse });
  }

  get isOver(): boolean {
    return this.process.pid === undefined || this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** @returns null when the process ended without an answer */
  ask(order: Order, bytes: Buffer | undefined): Promise<[Answer, Buffer] | null> {
    return new Promise((resolve) => {
      if (this.isOver) return resolve(null);
      this.#resolve = resolve;
      writeFrame(this.process.stdin, order, bytes);
    });
  }

  /** Forgets the task, so that a process that waits keeps neither its bytes nor its answer in memory. */
  #settle(answered: [Answer, Buffer] | null): void {
    this.#resolve?.(answered);
    this.#resolve = undefined;
  }

  /** "unref": it is idle, does not keep this process running, and ends after a minute. */
  hold(how: "ref" | "unref"): void {
    clearTimeout(this.#clock);
    this.process[how]();
    for (const stream of [this.process.stdin, this.process.stdout, this.process.stderr]) {
      (stream as unknown as Socket)[how]();
    }
    if (how === "unref") this.#clock = setTimeout(() => this.end(), longestIdle).unref();
  }

  end(): void {
    clearTimeout(this.#clock);
    this.process.kill("SIGKILL");
  }
}
