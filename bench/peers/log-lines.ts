/** One log line for each request, with an id, as the product writes it. */
import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { pino } from "pino";

const log = pino();

export function logLines(server: Server): void {
  server.prependListener("request", (request, response) => {
    const [requestId, started] = [randomUUID(), performance.now()];
    response.once("finish", () => {
      log.info({ requestId, path: request.url, status: response.statusCode, ms: performance.now() - started });
    });
  });
}
