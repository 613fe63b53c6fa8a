/**
 * How long a client waits for the service alone: from the last byte of its request to the first of the answer. The time in which
 * a client sends an upload, or reads a stream, depends on the client and its network.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * @param started by `performance.now()`
 * @returns what to call when the response has closed; the wait in milliseconds. It is 0 if the answer began before the request had
 *   ended, as for an upload that is refused, and lasts until the close if there was no answer.
 */
export function answerWait(request: IncomingMessage, response: ServerResponse, started: number): () => number {
  const { headers } = request;
  const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  let received = hasBody ? Number.POSITIVE_INFINITY : started;
  let answered: number | undefined;
  if (hasBody) {
    request.once("end", () => {
      received = performance.now();
    });
  }
  const { writeHead } = response;
  response.writeHead = ((...args: Parameters<typeof writeHead>) => {
    answered ??= performance.now();
    return writeHead.apply(response, args);
  }) as typeof writeHead;
  return () => Math.max(0, (answered ?? performance.now()) - received);
}
