/** Wraps every exchange: an id at the start, one log line and one metrics observation at the end. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { SvcError } from "../kit/svc-error.ts";
import { databaseReason } from "../telemetry/describe-error.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { type Tracing, traceFields } from "../telemetry/span.ts";
import { type Exchange, exchangeOf, type ShowCause, startExchange } from "./exchange.ts";
import { endRequestSpan, startRequestSpan } from "./request-span.ts";

const acceptableId = /^[\w.:-]{1,128}$/;

/** Starts the exchange, and registers the work for its end. */
export type Observe = (request: IncomingMessage, response: ServerResponse) => Exchange;

/** @param tracing undefined: tracing is off @param showCause undefined: causes are only logged */
export function observer(
  log: Logger,
  metrics: Metrics,
  standing: Readonly<Record<string, string>>,
  tracing?: Tracing,
  showCause?: ShowCause,
): Observe {
  // These lines have only our own fields, none of them secret: redaction would double their cost.
  const lines = log.child({}, { redact: [], formatters: { log: (line) => line } });
  return (request, response) => {
    const started = performance.now();
    const given = request.headers["x-request-id"];
    const requestId = typeof given === "string" && acceptableId.test(given) ? given : randomUUID();
    const exchange = startExchange(response, requestId, standing);
    if (showCause) exchange.showCause = showCause;
    const span = tracing && startRequestSpan(tracing, request, requestId);
    if (span) exchange.span = span;

    metrics.begin();
    response.on("close", () => {
      const ms = performance.now() - started;
      const { operation, error, userId } = exchange;
      // If the client disconnected before the answer, log 499, as proxies do.
      const status = response.writableFinished ? response.statusCode : 499;
      const code = error instanceof SvcError ? error.code : undefined;
      metrics.observe(operation, request.method ?? "", status, ms / 1000, code);

      if (span) endRequestSpan(span, request, exchange, status);

      const line = {
        requestId,
        ...(userId !== undefined && { userId }),
        method: request.method,
        operation,
        status,
        ms: Math.round(ms * 100) / 100,
        ...(span && traceFields(span)),
      };
      // GraphQL answers partial errors with 200.
      if (status >= 500 || (error instanceof SvcError && error.status >= 500))
        lines.error({ ...line, err: error instanceof SvcError ? (error.cause ?? error) : error }, "failed");
      else if (error instanceof SvcError) {
        const reason = databaseReason(error.cause);
        lines.info({ ...line, code: error.code, ...(reason && { reason }) }, "refused");
      } else lines.info(line, "done");
    });
    return exchange;
  };
}

/** For answers that other code writes: authentication routes, the application's routes, static files. */
export const setCommonHeaders: RequestHandler = (_request, response, next) => {
  for (const [name, value] of Object.entries(exchangeOf(response).headers)) response.setHeader(name, value);
  next();
};
