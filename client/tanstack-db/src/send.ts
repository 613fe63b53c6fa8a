/** Sends one entry of the outbox, and says what an error means for it. */
import { type SvcClient, SvcError } from "@svc/client";
import { toError } from "@svc/client/bindings";
import type { Entry } from "./entry.ts";

// biome-ignore lint/suspicious/noExplicitAny: whatever the client's operations are
export type AnyClient = SvcClient<any>;

/** @returns the answer's body; of one that the service has not kept, what it has of it. @throws SvcError */
export async function send(client: AnyClient, { body, key, user }: Entry): Promise<unknown> {
  const headers = { "content-type": "application/json", "idempotency-key": key, "svc-user": user };
  const response = await client.fetch("/api/mutation", { method: "POST", headers, body });
  const text = await response.text().catch((cause) => {
    throw new SvcError("NETWORK_ERROR", "The answer was cut.", { cause });
  });
  const error = response.ok ? undefined : toError(response, text);
  if (error && error.code !== "ANSWER_NOT_KEPT") throw error;
  try {
    const answer = JSON.parse(text);
    return error ? (answer.answers?.[0] ?? undefined) : answer;
  } catch (cause) {
    throw new SvcError("INVALID_ANSWER", "The answer is not one of the service's.", { status: response.status, cause });
  }
}

/** `lost`: no answer of the service. `refused`: it will say so again. `doubtful`: it may go better, but not for ever. */
export function meaningOf(error: unknown): "lost" | "refused" | "doubtful" {
  if (!(error instanceof SvcError)) return "doubtful";
  const { code, status, retryAfter } = error;
  if (status < 400 || retryAfter !== undefined || busy.test(code)) return "lost";
  // 401 and 412: a session has ended, or another user has come. 408 and 425 are about the connection.
  // A proxy's page says nothing of the mutation.
  return status < 500 && code !== "INVALID_ANSWER" && ![401, 408, 412, 425].includes(status) ? "refused" : "doubtful";
}
/** After how many doubtful answers a mutation is refused, so that the next ones are sent. */
export const maxDoubts = 5;
const busy = /^(UNAVAILABLE|RATE_LIMITED|OUTCOME_UNKNOWN)$/;

/** In milliseconds: the service keeps a key for a day. An hour is for clocks that are set meanwhile. */
const keyLifetime = 23 * 3_600_000;

/** Whether the service may have forgotten the key of a mutation that it may have saved. */
export const isForgotten = ({ attemptedAt }: Entry) =>
  attemptedAt !== undefined && Math.abs(Date.now() - attemptedAt) > keyLifetime;

export const forgotten = () =>
  new SvcError(
    "OUTCOME_UNKNOWN",
    "This may have been saved: no answer came, and it is too long ago to send it again.",
    { hint: "Look whether it was saved before you do it again." },
  );
