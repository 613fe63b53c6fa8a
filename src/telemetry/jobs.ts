/**
 * Spans of jobs, by the semantic conventions for messaging: one where a job is enqueued, one where it runs.
 * Next hop: `sql/realtime/carry_trace.sql` for how the trace gets into the queue; `workers/job-span.ts` takes it out.
 * Source: https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
 */
import { traced } from "./span.ts";

/** @param name of the procedure or workflow: a bounded set, known in advance */
export const jobAttributes = (operation: "send" | "process", name: string) => ({
  "messaging.system": "graphile_worker",
  "messaging.operation.type": operation,
  "messaging.operation.name": operation,
  "messaging.destination.name": name,
});

/** Enqueues inside a span. @param enqueue returns the job's or the run's id */
export function sendingJob(name: string, enqueue: () => Promise<string>): Promise<string> {
  return traced(`send ${name}`, "producer", jobAttributes("send", name), async (span) => {
    const id = await enqueue();
    span?.set({ "messaging.message.id": id });
    return id;
  });
}
