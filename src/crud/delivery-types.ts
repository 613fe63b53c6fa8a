/** The types of `<prefix>.deliveries` and `<prefix>.retryDelivery`. */

/** What webhooks deliver to an endpoint, newest first. */
export interface Deliveries {
  data: Delivery[];
  nextCursor: string | null;
}

/** One delivery. Times are in ISO 8601. */
export interface Delivery {
  /** The header `webhook-id`. */
  id: string;
  /** The name of the webhook. */
  event: string;
  state: "pending" | "sent" | "dead";
  /** Those that have begun. */
  attempts: number;
  createdAt: string;
  /** When the next attempt may begin; null: none follows. */
  dueAt: string | null;
  /** Since when it is sent or dead; null: it is pending. */
  endedAt: string | null;
  /** The HTTP status of the last answer; null: there was none. */
  status: number | null;
  /** Why the last attempt failed, in at most 200 characters. */
  error: string | null;
}

/** The input of `retryDelivery`. */
export interface RetryArguments<Id> {
  id: Id;
  /** The id of the delivery. */
  delivery: string;
}
