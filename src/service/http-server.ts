/**
 * The process's HTTP server. It may listen before the services behind it are ready, and drains at the end, so that no
 * answer is cut.
 * Next hop: `service.ts`.
 */
import { randomUUID } from "node:crypto";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { delayContinue } from "../http/body.ts";
import { sendError } from "../http/errors.ts";
import { AnswersUnderWay, exchangeOf, startExchange } from "../http/exchange.ts";
import { createServer } from "../kit/node-http.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { InFlight } from "../telemetry/metrics.ts";

export interface HttpServer {
  server: Server;
  /** Answers that have not been sent completely. The listener keeps it. */
  inFlight: InFlight;
  /** Sets the listener. Until then, requests are answered with 503. */
  answerBy(listener: RequestListener): void;
}

export function openServer(): HttpServer {
  const server = createServer({
    keepAliveTimeout: idleMs,
    // Some clients (Java's) offer HTTP/2 with every request. They also speak HTTP/1.1, so only WebSocket upgrades count.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
  });
  server.on("request", refuseForNow);
  // Node would send "100 Continue" before the body's length is checked.
  server.on("checkContinue", (request, response) => {
    delayContinue(request, response);
    server.emit("request", request, response);
  });
  return {
    server,
    inFlight: new AnswersUnderWay(),
    answerBy(listener) {
      server.off("request", refuseForNow).on("request", listener);
    },
  };
}

/** @returns where it listens. @throws the system's error when the port is taken */
export async function listen({ server }: HttpServer, port: number, host: string | undefined): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

/**
 * In milliseconds: how long an idle connection is kept. Longer than a proxy's usual minute: the side that sends the
 * requests must close first, or a request meets a closing connection.
 */
const idleMs = 75_000;

/** A port that the system chooses opens a moment before the services behind it. */
const refuseForNow: RequestListener = (_request, response) => {
  startExchange(response, randomUUID(), { "x-content-type-options": "nosniff" });
  sendError(response, new SvcError("UNAVAILABLE", "The service is starting.", { retryAfter: 1 }));
};

const cutByStop = new SvcError("UNAVAILABLE", undefined, {
  cause: new Error("The process stopped, and this request did not end within limits.shutdownMs."),
});

/**
 * Stops accepting connections, lets answers finish, and after the deadline breaks the remaining connections.
 *
 * @param lingerMs time before that, in which clients with open connections learn of the stop by an answer, and the
 *   balancer by /readyz: a request that meets a closing connection cannot be retried automatically
 * @param hasLeft called when another process can take the port
 */
export async function drain(
  { server, inFlight }: HttpServer,
  lingerMs: number,
  deadlineMs: number,
  hasLeft?: () => void,
): Promise<void> {
  // A connection in use closes after its answer, with `connection: close`; an idle one closes after `lingerMs`.
  for (const response of inFlight) response.shouldKeepAlive = false;
  server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false;
  });
  if (lingerMs > 0) await sleep(lingerMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  hasLeft?.();
  server.closeIdleConnections();
  // The head of a stream was sent before, without `connection: close`: its connection becomes idle only now.
  for (const response of inFlight) response.once("close", () => server.closeIdleConnections());
  const deadline = setTimeout(() => {
    // Their lines in the log say so. Otherwise they would say that the clients had left.
    for (const response of inFlight) exchangeOf(response).error ??= cutByStop;
    server.closeAllConnections();
  }, deadlineMs);
  await closed;
  clearTimeout(deadline);
}
