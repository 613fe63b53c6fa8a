/**
 * Caches the checkpoints of a worker's recent runs, so that the next replay reads only new ones.
 * Next hop: `sql/workflows/claim_run.sql`, which decides whether they still hold.
 */
import { onePer } from "../kit/one-per.ts";
import { RecentMap } from "../kit/recent-map.ts";
import type { RecordedStep } from "./replay-port.ts";
import type { RunRuntime } from "./run-port.ts";

/** A checkpoint as claim_run returns it. */
export interface NumberedStep extends RecordedStep {
  seq: number;
  /** When it was created, as PostgreSQL writes it. */
  at: string;
  /** In characters of JSON. */
  size?: number;
}

export const sizeOf = (steps: readonly NumberedStep[]): number => steps.reduce((sum, { size = 0 }) => sum + size, 0);

/** In characters of JSON, for all runs of a worker together. Other workers may end a run that this one has cached. */
const maxSize = 32_000_000;

/** In the same unit, measured: what a checkpoint takes besides. */
const perStep = 450;

export class StepCache {
  /** In the order of their last claim. */
  readonly #runs: RecentMap<string, readonly NumberedStep[]>;

  constructor(size = maxSize) {
    this.#runs = new RecentMap(size, (_, steps) => sizeOf(steps) + perStep * steps.length);
  }

  /** The checkpoints of a run; none if it is not cached. */
  of(runId: string): readonly NumberedStep[] {
    return this.#runs.get(runId) ?? [];
  }

  /**
   * Merges the claimed checkpoints with those that the worker knew when it claimed the run: those of other runs may have
   * taken their place in the cache since.
   *
   * @param known none if they are not valid any more
   * @returns all checkpoints of the run, in the order of their creation
   */
  merge(runId: string, known: readonly NumberedStep[], claimed: NumberedStep[]): NumberedStep[] {
    // Unfinished checkpoints are sent again, unless they were deleted.
    const kept = known.filter(({ done }) => done);
    const measured = claimed.map((step) => ({ ...step, size: JSON.stringify(step).length }));
    const steps = [...kept, ...measured].sort((a, b) => a.seq - b.seq);
    // Nothing would displace an empty one.
    if (steps.length === 0) this.forget(runId);
    else this.#runs.set(runId, steps);
    return steps;
  }

  /** Called when a run has ended. */
  forget(runId: string): void {
    this.#runs.delete(runId);
  }
}

/** Arguments of claim_run: number and time of the last known checkpoint, and the numbers of unfinished ones. */
export function claimArguments(known: readonly NumberedStep[]): [number | null, string | null, string] {
  const last = known.at(-1);
  return [last?.seq ?? null, last?.at ?? null, `{${known.filter(({ done }) => !done).map(({ seq }) => seq)}}`];
}

/** The one of a worker. */
export const stepCache = onePer((_: RunRuntime) => new StepCache());
