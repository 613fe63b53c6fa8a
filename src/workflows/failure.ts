/** Why runs fail, and what of it is kept: for the user a code and a sentence, for operators everything. */
import type { RunError } from "../contract/workflow-runs.ts";
import { SvcError } from "../kit/svc-error.ts";

/** The handler took another way than the one that was recorded. */
export class NonDeterministicError extends Error {
  override readonly name = "NonDeterministicError";
}

/** An author's mistake in a call of `wf`. Its text is ours and quotes only names, so readers of the run may see it. */
export class WorkflowMistake extends Error {
  override readonly name = "WorkflowMistake";
}

/** @param what begins our own messages: what toJSON() of an author's object throws may hold anything, and stays as it is */
export function checked<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { message, cause } = error as Error;
    throw String(message).startsWith(what) ? new WorkflowMistake(message, { cause }) : error;
  }
}

/** A step that failed for good, as its handler meets it, at once or at a later replay. */
export class StepError extends Error {
  override readonly name = "StepError";
  readonly error: RunError;

  constructor(error: RunError, cause?: unknown) {
    super(error.message, { cause });
    this.error = error;
  }

  get code(): string {
    return this.error.code;
  }

  get hint(): string | undefined {
    return this.error.hint;
  }
}

/** These would fail again. */
const final = [
  "BAD_REQUEST",
  "VALIDATION_FAILED",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "NOT_FOUND",
  "CREDIT_LIMIT_EXCEEDED",
  "AI_NOT_CONFIGURED",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "DOCUMENT_UNREADABLE",
  "DOCUMENT_ENCRYPTED",
  "DOCUMENT_PAID_FALLBACK_REQUIRED",
  "DOCUMENT_COST_ABOVE_CAP",
];

export const isFinal = (error: unknown) =>
  error instanceof WorkflowMistake || (error instanceof SvcError && final.includes(error.code));

/** An error that was not meant for callers is told as INTERNAL; its text may hold secrets. */
export function runError(error: unknown, step?: string): RunError {
  if (error instanceof StepError) return error.error;
  const { code, message, hint } =
    error instanceof NonDeterministicError
      ? { code: "NON_DETERMINISTIC", message: error.message, hint: undefined }
      : error instanceof SvcError
        ? error
        : new SvcError("INTERNAL", undefined, error instanceof WorkflowMistake ? { hint: error.message } : {});
  return { code, message, ...(hint !== undefined && { hint }), ...(step !== undefined && { step }) };
}

/** Everything, for operators. */
export function detailOf(error: unknown): string {
  const parts: string[] = [];
  for (let current = error; current !== undefined && parts.length < 5; current = (current as Error)?.cause) {
    parts.push(current instanceof Error ? (current.stack ?? String(current)) : String(current));
  }
  return parts.join("\ncaused by: ").slice(0, 10_000);
}
