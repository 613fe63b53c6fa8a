/** `ctx.workflows` and its records as handlers see them. `src/workflows/context.ts` implements it. */
import type { Workflow } from "./workflow.ts";

/** What a run's user may learn of its failure. */
export interface RunError {
  /** A code of procedures' errors, or NON_DETERMINISTIC, UNKNOWN_VERSION. */
  code: string;
  message: string;
  /** What to do about it. */
  hint?: string;
  /** The step that failed. */
  step?: string;
}

/** As stored. */
export type WorkflowStatus = (typeof workflowStatuses)[number];

export const workflowStatuses = ["pending", "running", "completed", "failed", "cancelled"] as const;

/** As a person would say it: a pending run is queued, waits for an event, or sleeps. */
export type DerivedWorkflowStatus = Exclude<WorkflowStatus, "pending"> | "queued" | "waiting" | "sleeping";

/** One run. */
export interface WorkflowRun {
  id: string;
  /** The workflow's. */
  name: string;
  version: number;
  /** As stored. */
  status: WorkflowStatus;
  /** With what `pending` means: queued, waiting, sleeping. */
  derivedStatus: DerivedWorkflowStatus;
  waitMarker: string | null;
  args: unknown;
  /** Of a completed run. */
  result: unknown;
  /** Of a failed run, or of the last attempt of one that will be tried again. */
  error: RunError | null;
  /** Errors since the last checkpoint. */
  attempts: number;
  /** When a run that waits goes on at the latest; null: when an event comes. */
  wakeAt: Date | null;
  /** When its maxDuration ends. */
  deadline: Date | null;
  createdAt: Date;
  updatedAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}

/** What happened at one position of the handler. */
export interface WorkflowStep {
  position: string;
  kind: "step" | "wait" | "sleep";
  name: string;
  status: "completed" | "failed" | "waiting" | "timed_out";
  result: unknown;
  error: RunError | null;
  /** When a wait or sleep ends by itself. */
  dueAt: Date | null;
  startedAt: Date;
  finishedAt: Date | null;
}

export interface WorkflowEvent {
  name: string;
  payload: unknown;
  /** Position of the wait that it ended. */
  takenBy: string | null;
  createdAt: Date;
}

/** One run with all that happened to it, in order. */
export interface WorkflowTimeline extends WorkflowRun {
  steps: WorkflowStep[];
  events: WorkflowEvent[];
}

export interface StartOptions {
  /** The same key of the same user and workflow gives the run that there is, at most 200 characters. */
  idempotencyKey?: string;
}

export interface ListOptions {
  status?: WorkflowStatus;
  /** Of workflows of this name alone. */
  name?: string;
  /** 1 to 100. (Default: 20) */
  limit?: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
}

/** The `workflows` of a context. */
export interface ContextWorkflows {
  /**
   * Starts a run when the call commits; it acts as the caller.
   *
   * @param workflow the workflow or its name
   * @throws SvcError VALIDATION_FAILED for wrong arguments, INTERNAL for an unknown name, QUERY_WROTE in a query
   */
  start<Args>(workflow: Workflow<Args> | string, args?: Args, options?: StartOptions): Promise<{ id: string }>;
  /** A run with its steps and events. @throws SvcError NOT_FOUND */
  get(id: string): Promise<WorkflowTimeline>;
  /** Runs, newest first. @throws SvcError BAD_REQUEST for a status or cursor that is none */
  list(options?: ListOptions): Promise<{ items: WorkflowRun[]; nextCursor: string | null }>;
  /** Sends an event; kept until a wait takes it. @throws SvcError NOT_FOUND, CONFLICT when the run has ended */
  signal(id: string, event: string, payload?: unknown): Promise<void>;
  /** Ends a run. @throws SvcError NOT_FOUND, CONFLICT when it has ended */
  cancel(id: string): Promise<void>;
  /**
   * Takes a failed or cancelled run up again.
   *
   * @param options.fromStep name or position of a step: it and what was recorded after it is done anew
   * @throws SvcError NOT_FOUND, CONFLICT when it has not failed, BAD_REQUEST for a step that it has not
   */
  retry(id: string, options?: { fromStep?: string }): Promise<void>;
}
