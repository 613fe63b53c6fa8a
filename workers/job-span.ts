/**
 * The span of a running job: in the trace of the call that enqueued it, or in a new trace, as for crons.
 * Next hop: `src/telemetry/jobs.ts`.
 */
import { jobAttributes } from "../src/telemetry/jobs.ts";
import { errorType, type Tracing } from "../src/telemetry/span.ts";

interface Row {
  id: string;
  attempts: number;
  max_attempts: number;
}

/** The name of the internal procedure that a job calls, otherwise its kind. */
export function jobName(kind: string, payload: unknown): string {
  const { procedure } = Object(payload) as Record<string, unknown>;
  return typeof procedure === "string" ? procedure : kind;
}

export async function inJobSpan<T>(
  tracing: Tracing | undefined,
  kind: string,
  payload: unknown,
  job: Row,
  run: () => Promise<T>,
): Promise<T> {
  if (!tracing) return run();
  const { trace, requestId } = Object(payload) as Record<string, unknown>;
  const name = jobName(kind, payload);
  const attributes = {
    ...jobAttributes("process", name),
    "messaging.message.id": job.id,
    "svc.job.kind": kind,
    "svc.job.attempt": job.attempts,
    "svc.job.max_attempts": job.max_attempts,
    ...(typeof requestId === "string" && { "svc.request_id": requestId }),
  };
  const span = tracing.start(`process ${name}`, "consumer", attributes, typeof trace === "string" ? trace : null);
  try {
    return await span.within(run);
  } catch (error) {
    span.fail(errorType(error));
    throw error;
  } finally {
    span.end();
  }
}
