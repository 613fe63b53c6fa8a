/**
 * The span of a request, by the semantic conventions for HTTP servers. It contains no client text except the method:
 * paths may hold tokens, queries hold grants and codes, headers hold sessions. Source:
 * https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server
 */
import type { IncomingMessage } from "node:http";
import type { Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Span, Tracing } from "../telemetry/span.ts";

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

/** Frequent requests that need no trace. */
const untraced = /^\/(healthz|readyz|metrics)$/;

/** The operation of a call by name is not a path; otherwise it is the path's pattern. */
const callPath = /^\/api\/(query|mutation)(?=\/|$)/;

/** @returns undefined for probes and preflights */
export function startRequestSpan(tracing: Tracing, request: IncomingMessage, requestId: string): Span | undefined {
  const { method = "", url = "", headers } = request;
  if (method === "OPTIONS" || untraced.test(url)) return undefined;
  const known = methods.has(method) ? method : "_OTHER";
  const attributes = {
    "http.request.method": known,
    "url.scheme": "encrypted" in request.socket ? "https" : "http",
    "network.protocol.version": request.httpVersion,
    "svc.request_id": requestId,
  };
  const parent = headers.traceparent;
  return tracing.start(known, "server", attributes, typeof parent === "string" ? parent : null);
}

/** @param status as logged: 499 when the client disconnected */
export function endRequestSpan(
  span: Span,
  { method = "", url = "" }: IncomingMessage,
  exchange: { operation: string; error?: unknown; session?: Session | null },
  status: number,
) {
  const { operation, error, session } = exchange;
  const path = url.split("?", 1)[0] ?? "";
  const route = operation.startsWith("/") ? operation : callPath.exec(path)?.[0];
  span.rename(operation === "unknown" ? method : `${method} ${operation}`);
  span.set({
    "http.response.status_code": status,
    "svc.operation": operation,
    // The pattern instead of the path: path parameters may be private.
    ...(route && { "http.route": route, "url.path": route }),
    ...(session && { "user.id": session.user.id }),
    ...(error instanceof SvcError && { "svc.error_code": error.code }),
  });
  if (status >= 500) span.fail(error instanceof SvcError ? error.code : String(status));
  span.end();
}
