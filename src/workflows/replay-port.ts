/**
 * The interface of a replay: its recorded steps, its outcome, and the port through which it runs steps and waits.
 * Next hop: `run-port.ts` is that world, in the database.
 */
import type { Logger } from "pino";
import type { RequestDatabase } from "../contract/database.ts";
import type { ConvertedDocument, ConvertStoredInput } from "../contract/documents.ts";
import type { WorkflowContext, WorkflowDefinition } from "../contract/workflow.ts";
import type { RunError } from "../contract/workflow-runs.ts";
import type { KeptConversion } from "../documents/conversion-cache.ts";
import type { Stored } from "./encoding.ts";

/** A recorded step or wait at a position. */
export interface RecordedStep {
  position: string;
  kind: "step" | "wait" | "sleep";
  name: string;
  done: boolean;
  result: Stored | null;
  error?: RunError | null;
}

export interface RunningStep {
  position: string;
  name: string;
  readonly db: RequestDatabase;
  readonly rag: WorkflowContext["rag"];
  readonly storage: WorkflowContext["storage"];
}

/** What a replay can do. `step` and `wait` write, and throw RunLostError when the run no longer belongs to this worker. */
export interface ReplayPort {
  /** Runs a step and records its result; its failure too if `last` returns true. */
  step<T>(position: string, name: string, last: (error: unknown) => boolean, run: Enter<T>): Promise<T>;
  wait(position: string, kind: "wait" | "sleep", name: string, milliseconds: number | null): Promise<WaitAnswer>;
  /** Converts a stored file as the run's user. The result is stored apart: it may exceed a checkpoint. */
  convert(input: ConvertStoredInput): Promise<KeptConversion>;
  /** The stored result, or null when it was removed. */
  conversion(kept: KeptConversion): Promise<ConvertedDocument | null>;
}

/** How a replay ended. */
export type ReplayOutcome =
  | { kind: "completed"; result: unknown }
  | { kind: "failed"; error: unknown }
  /** `stuck` are the waits that block; none if the worker stops, and the run can continue at once. */
  | { kind: "suspended"; stuck: string[] }
  | { kind: "retry"; error: unknown; step: string };

export interface ReplayOptions {
  runId: string;
  definition: WorkflowDefinition;
  args: unknown;
  recorded: readonly RecordedStep[];
  /** Failures since the last checkpoint. */
  attempts: number;
  port: ReplayPort;
  /** Aborted when the worker has to stop: no new step begins then. */
  signal: AbortSignal;
  log: Logger;
}

/** Runs a step's function; gets the step, so that `wf.db` finds it. */
export type Enter<T> = (step: RunningStep) => Promise<T>;
export type WaitAnswer = { done: boolean; result: Stored | null };

/** A step's own error, to be retried. Other errors of the port end the replay, except for an interruption. */
export class StepFailure extends Error {}

/** The worker stops, so the step was aborted. The next replay starts it again, and no attempt is used up. */
export class StepInterrupted extends Error {}
