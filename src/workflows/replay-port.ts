/**
 * What a replay is given and asks for: what was recorded, and the world that steps and waits happen in.
 * Next hop: `run-port.ts` is that world, in the database.
 */
import type { RequestDatabase } from "../contract/database.ts";
import type { ConvertedDocument, ConvertStoredInput } from "../contract/documents.ts";
import type { WorkflowContext } from "../contract/workflow.ts";
import type { RunError } from "../contract/workflow-runs.ts";
import type { KeptConversion } from "../documents/conversion-cache.ts";
import type { Stored } from "./encoding.ts";

/** What was recorded at a position. */
export interface RecordedStep {
  position: string;
  kind: "step" | "wait" | "sleep";
  name: string;
  done: boolean;
  result: Stored | null;
  error?: RunError | null;
}

/** A step under way. */
export interface RunningStep {
  position: string;
  name: string;
  readonly db: RequestDatabase;
  readonly rag: WorkflowContext["rag"];
}

/** What a replay needs of the world. Both write, and throw RunLostError when the run is no longer this worker's. */
export interface ReplayPort {
  /** Runs a step and records what it gave; where `last`, also that it failed. */
  step<T>(position: string, name: string, last: (error: unknown) => boolean, run: Enter<T>): Promise<T>;
  wait(position: string, kind: "wait" | "sleep", name: string, milliseconds: number | null): Promise<WaitAnswer>;
  /** Converts a stored file as the run's user, and keeps the result: it may be larger than a checkpoint. */
  convert(input: ConvertStoredInput): Promise<KeptConversion>;
  /** What was kept, or null when it was swept. */
  conversion(kept: KeptConversion): Promise<ConvertedDocument | null>;
}

/** Runs a step's function; given the step, so that `wf.db` finds it. */
export type Enter<T> = (step: RunningStep) => Promise<T>;
export type WaitAnswer = { done: boolean; result: Stored | null };

/** A step's own error, to be tried again. Any other error of the port ends the replay, but for an interruption. */
export class StepFailure extends Error {}

/** The worker ends, and so the step was broken off: the next replay begins it anew, and no attempt was used up. */
export class StepInterrupted extends Error {}
