/**
 * The `wf` of one replay. It runs a handler from its start, answers completed steps from checkpoints, executes new ones,
 * and detects when the run can only wait.
 *
 * The handler's calls form a tree of positions: "0", "1", … and inside the branches of a parallel at "2": "2.0.0",
 * "2.1.0", …. A *strand* is a line of calls that can continue by itself: the handler, or a branch. When every strand is
 * blocked and no step is running, the replay ends.
 * Next hop: `execute.ts` claims runs and ends them; `run-port.ts` runs a step.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Logger } from "pino";
import type { RequestDatabase } from "../contract/database.ts";
import type { ConvertedDocument, ConvertStoredInput } from "../contract/documents.ts";
import type { WorkflowContext, WorkflowServices } from "../contract/workflow.ts";
import { PendingWork } from "../jobs/pending-work.ts";
import { type Duration, milliseconds } from "../kit/duration.ts";
import { readableError } from "../kit/storable-text.ts";
import { decodeValue, isName, nameRule } from "./encoding.ts";
import { checked, isFinal, NonDeterministicError, requireFunctions, StepError, WorkflowMistake } from "./failure.ts";
import {
  type Enter,
  type RecordedStep,
  type ReplayOptions,
  type ReplayOutcome,
  type RunningStep,
  StepFailure,
  StepInterrupted,
} from "./replay-port.ts";

interface Place {
  branch: { prefix: string; next: number };
  step?: RunningStep;
}

const places = new AsyncLocalStorage<Place>();

/** Runs the handler once. @throws errors of the port, except errors of a step */
export const replay = (options: ReplayOptions): Promise<ReplayOutcome> => new Replay(options).run();

const patienceOf = (duration: Duration) => checked(JSON.stringify(duration), () => milliseconds(duration));

class Replay implements WorkflowContext {
  readonly #options: ReplayOptions;
  readonly #recorded: Map<string, RecordedStep>;
  /** Positions of recorded parallels: prefixes of other positions. */
  readonly #parallels = new Set<string>();
  readonly #met = new Set<string>();
  readonly #stuck: string[] = [];
  /** Whether a strand was stopped without a wait. */
  #isInterrupted = false;
  readonly #steps = new PendingWork();
  readonly #outcome = Promise.withResolvers<ReplayOutcome>();
  /** Strands that can continue. */
  #live = 1;
  /** Steps and waits in progress. */
  #active = 0;
  #retry: { error: unknown; step: string } | undefined;
  #returned: { value: unknown } | undefined;
  #isCompleted = false;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#recorded = new Map(options.recorded.map((step) => [step.position, step]));
    for (const { position } of options.recorded) {
      for (let dot = position.indexOf("."); dot > 0; dot = position.indexOf(".", dot + 1)) {
        this.#parallels.add(position.slice(0, dot));
      }
    }
  }

  /** Each call is a separate step. */
  readonly services: WorkflowServices = { document: { convert: (input) => this.#convert(input) } };

  async #convert(input: ConvertStoredInput): Promise<ConvertedDocument> {
    const { port } = this.#options;
    const kept = await this.step("document.convert", () => port.convert(input));
    const document = await this.#work(() => port.conversion(kept));
    if (document) return document;
    const message = "The converted document is no longer stored. Retry the run from this step.";
    throw new StepError({ code: "NOT_FOUND", message, step: "document.convert" });
  }

  get runId(): string {
    return this.#options.runId;
  }

  get log(): Logger {
    return this.#options.log;
  }

  get db(): RequestDatabase {
    return this.#stepHere("wf.db").db;
  }

  get rag(): WorkflowContext["rag"] {
    return this.#stepHere("wf.rag").rag;
  }

  get storage(): WorkflowContext["storage"] {
    return this.#stepHere("wf.storage").storage;
  }

  get idempotencyKey(): string {
    return `${this.runId}:${this.#stepHere("wf.idempotencyKey").position}`;
  }

  run(): Promise<ReplayOutcome> {
    const { definition, args } = this.#options;
    const place: Place = { branch: { prefix: "", next: 0 } };
    places
      .run(place, async () => definition.handler(this, args as never))
      .then(
        (value) => {
          this.#returned = { value };
          this.#settleIfIdle();
        },
        (error) => this.#fail(readableError(error)),
      );
    return this.#outcome.promise;
  }

  step<T>(name: string, run: () => T | Promise<T>): Promise<T> {
    return this.#steps.keep(() => this.#step(name, run));
  }

  async #step<T>(name: string, run: () => T | Promise<T>): Promise<T> {
    const { place, position, before } = this.#meet("step", name);
    requireFunctions([run], `wf.step takes a function, as in wf.step(${JSON.stringify(name)}, () => …).`);
    if (before?.error) throw new StepError(before.error);
    if (before) return decodeValue(before.result) as T;
    const { port, attempts, definition, signal } = this.#options;
    if (signal.aborted || this.#retry) return this.#block();
    const last = (error: unknown) => attempts >= definition.retries.limit || isFinal(error);
    const enter: Enter<T> = (step) => places.run({ ...place, step }, async () => run());
    try {
      return await this.#work(() => port.step(position, name, last, enter));
    } catch (error) {
      if (error instanceof StepInterrupted) return this.#block();
      if (!(error instanceof StepFailure)) throw error;
      this.#retry ??= { error: error.cause, step: name };
      return this.#block();
    }
  }

  async parallel<const B extends readonly (() => unknown)[]>(branches: B): Promise<never> {
    // A promise has already begun on this strand, in an order that no replay could repeat.
    const says = "wf.parallel takes a list of functions, as in wf.parallel([() => wf.step(…), () => wf.step(…)]).";
    requireFunctions(branches, says);
    const { position } = this.#meet("parallel", "");
    let left = branches.length;
    this.#live += Math.max(branches.length - 1, 0);
    const results = await Promise.allSettled(
      branches.map(async (branch, index) => {
        try {
          return await places.run({ branch: { prefix: `${position}.${index}.`, next: 0 } }, async () => branch());
        } finally {
          left--;
          if (left > 0) this.#live--; // the last branch passes its place to the strand that waits for all
          this.#settleIfIdle();
        }
      }),
    );
    // Here, and not only at the end of the handler: the new steps in between would be recorded, and fit neither handler.
    if (!this.#metAll(`ended the parallel at position ${position}`, undefined, `${position}.`)) return this.#block();
    return results.map((result) => {
      if (result.status === "rejected") throw result.reason;
      return result.value;
    }) as never;
  }

  // biome-ignore lint/suspicious/noExplicitAny: as the interface has it
  async waitForEvent<T = any>(name: string, timeout?: Duration): Promise<T | null> {
    return (await this.#wait("wait", name, timeout === undefined ? null : patienceOf(timeout))) as T | null;
  }

  async sleep(duration: Duration): Promise<void> {
    await this.#wait("sleep", "sleep", patienceOf(duration));
  }

  async #wait(kind: "wait" | "sleep", name: string, patience: number | null): Promise<unknown> {
    const { position, before } = this.#meet(kind, name);
    if (before?.done) return decodeValue(before.result);
    if (before || this.#options.signal.aborted || this.#retry) return this.#block(before && position);
    const { done, result } = await this.#work(() => this.#options.port.wait(position, kind, name, patience));
    return done ? decodeValue(result) : this.#block(position);
  }

  /** Takes the strand's next position, and compares the call with what was recorded there. */
  #meet(kind: RecordedStep["kind"] | "parallel", name: string) {
    const place = places.getStore();
    if (!place) throw new WorkflowMistake("wf was used outside its handler.");
    const called = `wf.${kind === "wait" ? "waitForEvent" : kind} was called`;
    if (this.#isCompleted) {
      const err = new WorkflowMistake(`${called} after the handler had ended, and did nothing: an await is missing.`);
      this.log.error({ err, name }, "a call of wf came too late");
      throw err;
    }
    if (place.step) {
      throw new WorkflowMistake(
        `${called} inside the step "${place.step.name}". Call it in the handler, after the step.`,
      );
    }
    if (kind !== "parallel" && !isName(name)) throw new WorkflowMistake(`A step or event needs a name ${nameRule}`);
    const position = `${place.branch.prefix}${place.branch.next++}`;
    const before = this.#recorded.get(position);
    const differs = before
      ? before.kind !== kind || before.name !== name
      : this.#parallels.has(position) && kind !== "parallel";
    if (differs) {
      const was = before ? `${before.kind} "${before.name}"` : "parallel";
      throw this.#diverged(`at position ${position} it comes to ${kind} "${name}", where ${was} was recorded`);
    }
    if (before) this.#met.add(position);
    return { place, position, before };
  }

  /** Ends the replay, even if the handler catches the error. */
  #diverged(how: string, cause?: unknown): Error {
    const { name, version } = this.#options.definition;
    const error = new NonDeterministicError(
      `The handler of "${name}" version ${version} does not repeat the recorded steps of this run: ${how}. Restore the ` +
        "handler, or give the changed one a higher version and keep this one beside it. Then retry the run.",
      { cause },
    );
    this.#outcome.resolve({ kind: "failed", error });
    return error;
  }

  /**
   * An error of the run, other than a step's, ends the replay. The handler never sees it, since it could catch it and continue.
   */
  async #work<T>(work: () => Promise<T>): Promise<T> {
    this.#active++;
    try {
      return await work();
    } catch (error) {
      if (error instanceof StepError || error instanceof StepFailure || error instanceof StepInterrupted) throw error;
      this.#outcome.reject(error);
      return new Promise(() => {});
    } finally {
      this.#active--;
      this.#settleIfIdle();
    }
  }

  /** Never resolves; a later replay continues here. @param position of the wait that blocks. (Default: the worker's stop) */
  #block(position?: string): Promise<never> {
    if (position === undefined) this.#isInterrupted = true;
    else this.#stuck.push(position);
    this.#live--;
    this.#settleIfIdle();
    return new Promise(() => {});
  }

  /** After pending callbacks, checks whether any strand can continue. */
  #settleIfIdle(): void {
    setImmediate(() => {
      if (this.#active > 0) return;
      if (this.#returned) return this.#end(this.#returned.value);
      if (this.#live > 0) return;
      // One strand can continue at once, whatever the others wait for.
      const stuck = this.#isInterrupted ? [] : this.#stuck;
      this.#outcome.resolve(this.#retry ? { kind: "retry", ...this.#retry } : { kind: "suspended", stuck });
    });
  }

  #end(result: unknown): void {
    const lost = this.#steps.uncaught; // of a step that the handler has not awaited
    if (this.#retry) this.#outcome.resolve({ kind: "retry", ...this.#retry });
    else if (lost) this.#fail(readableError(lost.error));
    else if (this.#metAll("ended")) {
      this.#isCompleted = true;
      this.#outcome.resolve({ kind: "completed", result });
    }
  }

  #fail(error: unknown): void {
    if (this.#metAll("failed", error)) this.#outcome.resolve({ kind: "failed", error });
  }

  /** Fails a handler that stopped before it reached all recorded steps: its calls differ, however it stopped. */
  #metAll(how: string, cause?: unknown, within = ""): boolean {
    const unmet = this.#options.recorded.find(({ position: at }) => at.startsWith(within) && !this.#met.has(at));
    if (unmet) {
      this.#diverged(`it ${how} without ${unmet.kind} "${unmet.name}", recorded at position ${unmet.position}`, cause);
    }
    return !unmet;
  }

  #stepHere(what: string): RunningStep {
    const step = places.getStore()?.step;
    if (step) return step;
    throw new WorkflowMistake(`${what} is only available inside a step: code outside a step may run again.`);
  }
}
