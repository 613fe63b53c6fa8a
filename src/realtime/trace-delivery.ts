/**
 * The span of a transaction's delivery to subscribers: one for all sockets of this process, in the trace of the
 * committed call. A delivery without listeners has no span.
 * Next hop: `subscription-registry.ts`.
 */
import type { Tracing } from "../telemetry/span.ts";
import type { SubscriptionRegistry } from "./subscription-registry.ts";
import type { TransactionEvents } from "./transaction-events.ts";

export function traceDelivery(tracing: Tracing, registry: SubscriptionRegistry, events: TransactionEvents): void {
  const attributes = {
    "messaging.system": "svc_realtime",
    "messaging.operation.type": "send",
    "messaging.operation.name": "deliver",
    "messaging.destination.name": "subscribers",
  };
  const span = tracing.start("deliver subscribers", "producer", attributes, events.trace);
  const before = registry.deliveries;
  span.within(() => registry.deliver(events));
  const sent = registry.deliveries - before;
  // Refreshed results are sent later, separately; their statements are spans below this one.
  if (sent === 0 && events.refresh.size === 0) return;
  span.set({ "messaging.batch.message_count": sent });
  span.end();
}
