/** Tells a handler that its client has disconnected. */
import type { ServerResponse } from "node:http";

/** Aborts when the connection closes before the answer is sent. */
export function leftSignal(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  const abort = () => {
    if (!response.writableFinished) left.abort(new Error("The client has disconnected."));
  };
  if (response.destroyed || response.closed) abort();
  else response.once("close", abort);
  return left.signal;
}
