/**
 * The process's HTTP server: opened before there is anything behind it, and drained at the end, so that no answer is cut.
 * Next hop: `service.ts`.
 */
import { randomUUID } from "node:crypto";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { delayContinue } from "../http/body.ts";
import { sendError } from "../http/errors.ts";
import { startExchange } from "../http/exchange.ts";
import { SvcError } from "../kit/svc-error.ts";

export interface HttpServer {
  server: Server;
  /** The answers that have not been sent to their end. */
  inFlight: ReadonlySet<ServerResponse>;
  /** From now on, this answers. Until then everybody is asked to come back. */
  answerBy(listener: RequestListener): void;
}

export function openServer(): HttpServer {
  const server = createServer({
    keepAliveTimeout: idleMs,
    // Some clients offer HTTP/2 with every request (Java's do); that is no socket, and they speak HTTP/1.1 as well.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
  });
  const inFlight = trackResponses(server);
  let answer: RequestListener = refuseForNow;
  server.on("request", (request, response) => answer(request, response));
  // Node would ask for the body before anybody has looked at its length.
  server.on("checkContinue", (request, response) => {
    delayContinue(request, response);
    server.emit("request", request, response);
  });
  return {
    server,
    inFlight,
    answerBy(listener) {
      answer = listener;
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
 * In milliseconds: how long a connection without a request is kept. Longer than proxies keep theirs, a minute as a rule: who
 * closes first must be who sends the requests, or one of them meets a connection that is just being closed.
 */
const idleMs = 75_000;

/** The port is open a moment before everything behind it is. */
const refuseForNow: RequestListener = (_request, response) => {
  startExchange(response, randomUUID(), { "x-content-type-options": "nosniff" });
  sendError(response, new SvcError("UNAVAILABLE", "The service is starting.", { retryAfter: 1 }));
};

/**
 * Takes no new connections, lets answers finish, and after the deadline breaks what is left.
 *
 * @param lingerMs before that, so that whoever keeps connections hears of it by an answer, and the balancer by /readyz: a
 *                 request that meets a connection that is just being closed cannot be sent again by itself
 */
export async function drain({ server, inFlight }: HttpServer, lingerMs: number, deadlineMs: number): Promise<void> {
  // A connection in use closes after its answer, and says so; an idle one closes when it has lingered.
  for (const response of inFlight) response.shouldKeepAlive = false;
  server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false;
  });
  if (lingerMs > 0) await sleep(lingerMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
  await closed;
  clearTimeout(deadline);
}

function trackResponses(server: Server): ReadonlySet<ServerResponse> {
  const inFlight = new Set<ServerResponse>();
  server.on("request", (_request, response) => {
    inFlight.add(response);
    response.on("close", () => inFlight.delete(response));
  });
  return inFlight;
}
