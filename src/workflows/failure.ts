/** Reasons why runs fail, and what is stored: a code and a sentence for the user, all details for operators. */
import type { RunError } from "../contract/workflow-runs.ts";
import { longestMessage, storableText, textOf } from "../kit/storable-text.ts";
import { SvcError } from "../kit/svc-error.ts";
import { mask } from "../telemetry/mask.ts";

/** The handler's calls differ from the recorded ones. */
export class NonDeterministicError extends Error {
  override readonly name = "NonDeterministicError";
}

/** An author's wrong call of `wf`. Readers of the run may see its text, because it is ours and quotes only names. */
export class WorkflowMistake extends Error {
  override readonly name = "WorkflowMistake";
}

/** @throws WorkflowMistake */
export function requireFunctions(all: readonly unknown[], says: string): void {
  if (!Array.isArray(all) || all.some((one) => typeof one !== "function")) throw new WorkflowMistake(says);
}

/** @param what begins our own messages. Other messages stay internal: toJSON() of an author's object may throw anything */
export function checked<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { message, cause } = error as Error;
    throw String(message).startsWith(what) ? new WorkflowMistake(message, { cause }) : error;
  }
}

/** A step that failed for good, as the handler catches it: at once, or at a later replay. */
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

/** Errors that a retry would repeat. */
const final = [
  "BAD_REQUEST",
  "VALIDATION_FAILED",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "NOT_FOUND",
  "CREDIT_LIMIT_EXCEEDED",
  "AI_NOT_CONFIGURED",
  "NOT_INSTALLED",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "DOCUMENT_UNREADABLE",
  "DOCUMENT_ENCRYPTED",
  "DOCUMENT_PAID_FALLBACK_REQUIRED",
  "DOCUMENT_COST_ABOVE_CAP",
];

export const isFinal = (error: unknown) =>
  error instanceof WorkflowMistake || (error instanceof SvcError && final.includes(error.code));

/** Errors that are not meant for callers become INTERNAL, because their text may contain secrets. */
export function runError(error: unknown, step?: string): RunError {
  if (error instanceof StepError) return error.error;
  const { code, message, hint } =
    error instanceof NonDeterministicError
      ? { code: "NON_DETERMINISTIC", message: error.message, hint: undefined }
      : error instanceof SvcError
        ? error
        : new SvcError("INTERNAL", undefined, error instanceof WorkflowMistake ? { hint: error.message } : {});
  return {
    code,
    message: storableText(textOf(message).slice(0, longestMessage)),
    ...(hint !== undefined && { hint: storableText(textOf(hint).slice(0, longestMessage)) }),
    ...(step !== undefined && { step }),
  };
}

/** All details, for operators. Without secrets, as in the log: it stays in the database and its backups. */
export function detailOf(error: unknown): string {
  const parts: string[] = [];
  for (let current = error; current !== undefined && parts.length < 5; current = (current as Error)?.cause) {
    parts.push(textOf((current instanceof Error && current.stack) || current));
  }
  return storableText(mask(parts.join("\ncaused by: ").slice(0, longestMessage)));
}
