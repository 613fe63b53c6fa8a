/** The outermost middleware: gives each exchange its id, and when it is over, one log line and one observation. */
import { randomUUID } from "node:crypto";
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { SvcError } from "../errors/svc-error.ts";
import { startExchange } from "./exchange.ts";
import type { Metrics } from "./metrics.ts";

const acceptableId = /^[\w.:-]{1,128}$/;

export function observe(log: Logger, metrics: Metrics): RequestHandler {
  return (request, response, next) => {
    const started = performance.now();
    const given = request.headers["x-request-id"];
    const requestId = typeof given === "string" && acceptableId.test(given) ? given : randomUUID();
    const exchange = startExchange(response, requestId);
    response.setHeader("x-request-id", requestId);
    response.setHeader("x-content-type-options", "nosniff");

    response.on("close", () => {
      const ms = performance.now() - started;
      const { operation, error } = exchange;
      // A client that went away before the answer has no status to speak of; 499 is what proxies call it.
      const status = response.writableFinished ? response.statusCode : 499;
      metrics.observe(operation, request.method, status, ms / 1000);

      const line = { requestId, method: request.method, operation, status, ms: Math.round(ms * 100) / 100 };
      if (status >= 500) log.error({ ...line, err: error instanceof SvcError ? (error.cause ?? error) : error }, "failed");
      else if (error instanceof SvcError) log.info({ ...line, code: error.code }, "refused");
      else log.info(line, "done");
    });
    next();
  };
}
