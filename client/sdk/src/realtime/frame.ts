/** What the service sends over the socket of watched queries: which members a frame has depends on its type. */
export interface Frame {
  type?: string;
  query?: string;
  subscriptionKey?: string;
  queries?: string[];
  xid?: string;
  flow?: "live" | "degraded";
  result?: unknown;
  data?: unknown;
  code?: string;
  error?: string;
  hint?: string;
  follows?: string;
  renewed?: boolean;
  before?: string;
  history?: string;
}
