/** The public surface of @svc/tanstack-db. */
export { type PendingMutation, type RefusedMutation, temporaryKey } from "./entry.ts";
export {
  type Change,
  type Mutations,
  type RowOf,
  type Sent,
  type SvcCollectionOptions,
  svcCollectionOptions,
} from "./options.ts";
export { createOutbox, type Outbox, type OutboxOptions } from "./outbox.ts";
export { indexedDbStorage, type OutboxStorage } from "./storage.ts";
