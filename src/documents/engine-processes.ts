/**
 * Supplies processes for engines. One that reads PDF reads one document after the other: PDFium has an instance of
 * WebAssembly for each, which no document leaves. The other engines are JavaScript, so each of their documents has a
 * process of its own; the next one waits with its engines loaded, since loading takes longer than most documents.
 * Next hop: `sandbox.ts`.
 */
import { usageOf } from "../kit/confined-process.ts";
import { type Child, startChild } from "./sandbox.ts";
import type { Task } from "./types.ts";

/** So many wait for the next PDF; others end. */
const mostIdle = 2;
/** In bytes. A larger process ends after its document, since it would keep the memory. */
const mostKept = 192 * 1024 * 1024;

const isReader = (task: Task | undefined) => task?.kind === "pdf" && task.engine !== "parser_b";

export class EngineProcesses {
  #readers: Child[] = [];
  #spare: Child | undefined;
  #isClosed = false;
  readonly #start: typeof startChild;

  constructor(start = startChild) {
    this.#start = start;
  }

  /** A waiting process, or a new one. */
  take(task?: Task): Child {
    const waiting = isReader(task) ? this.#idleReaders().pop() : this.#spare;
    if (!isReader(task)) this.#prepare();
    // It may have ended by itself.
    if (!waiting || waiting.isOver) return this.#start();
    waiting.hold("ref");
    return waiting;
  }

  /** What becomes of the process after the task. */
  release(task: Task): (child: Child) => void {
    return async (child) => {
      const isLarge = isReader(task) && (await usageOf(child.process.pid)).memoryBytes > mostKept;
      if (!isReader(task) || isLarge || this.#isClosed || this.#idleReaders().length >= mostIdle) return child.end();
      child.hold("unref");
      this.#readers.push(child);
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const child of this.#readers.splice(0)) child.end();
    this.#spare?.end();
    this.#spare = undefined;
  }

  /** Without those that have ended, as after a minute. */
  #idleReaders(): Child[] {
    this.#readers = this.#readers.filter(({ isOver }) => !isOver);
    return this.#readers;
  }

  #prepare(): void {
    this.#spare = undefined;
    if (this.#isClosed) return;
    const spare = this.#start({}, true);
    spare.hold("unref");
    this.#spare = spare;
  }
}
