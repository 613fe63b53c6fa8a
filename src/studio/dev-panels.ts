/** Requests, Trace and Mailbox, while developing. Next hop: `src/telemetry/observations.ts`. */
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import { panel } from "./panel.ts";

const none = z.strictObject({});

export const devPanels = {
  // null: only svc dev knows what its service does.
  requests: panel(none, async (_, { observations }) => observations?.requests().slice(0, 200) ?? null),
  mails: panel(none, async (_, { observations }) => observations?.mails ?? null),
  trace: panel(z.strictObject({ id: z.string().min(1).max(100) }), async ({ id }, { observations }) => {
    const spans = observations?.trace(id) ?? [];
    if (spans.length > 0) return spans;
    throw new SvcError("NOT_FOUND", "Nothing is known of this request.", {
      hint: "Studio of svc dev keeps the last 500 in memory. Elsewhere, svc logs FILE --request ID shows its lines.",
    });
  }),
};
