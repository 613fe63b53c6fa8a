/** The application's own routes (`httpRoutes` of defineApi). Next hop: `src/call/invoke.ts`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { ReadableStream } from "node:stream/web";
import { admit, behindGate, checkOutput, invoke } from "../call/invoke.ts";
import { complete, type RouteDefinition, type RouteResult } from "../contract/http-route.ts";
import type { SvcRequest } from "../contract/request.ts";
import { mediaType } from "../http/body.ts";
import { countAnswer } from "../http/body-budget.ts";
import { errorHeaders, toSvcError } from "../http/errors.ts";
import { callerOf, exchangeOf } from "../http/exchange.ts";
import { toSvcRequest } from "../http/request.ts";
import {
  enforceContentLength,
  inThisCall,
  isStreamBody,
  noteBreak,
  type StreamBody,
  sendStream,
} from "../http/stream-body.ts";
import { isJson } from "../kit/media-type.ts";
import { validateHeaderName, validateHeaderValue } from "../kit/node-http.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { ProcedureTransport } from "./procedures.ts";
import type { SessionStreams } from "./session-streams.ts";

export type RouteTransport = Pick<ProcedureTransport, "authenticate" | "runtime" | "requests" | "limits"> & {
  streams: SessionStreams;
};

/** Answers a request. @param path without the query @param params decoded */
export type RouteEndpoint = (
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  params: Record<string, string>,
) => Promise<void>;

interface Answer extends Required<Pick<RouteResult, "status" | "headers">> {
  body: string | Uint8Array | ReadableStream | StreamBody | undefined;
}

export function routeEndpoint(
  route: RouteDefinition,
  { authenticate, runtime, requests, limits, streams }: RouteTransport,
): RouteEndpoint {
  const readsQuery = route.verb === "get" || route.verb === "delete";
  return async (httpRequest, response, path, params) => {
    const exchange = exchangeOf(response);
    exchange.operation = route.path;

    const access = route.verb === "get" ? "read" : "write";
    const from = { request: httpRequest, response, path, params, address: requests.addressOf(httpRequest) };
    const request = toSvcRequest(from, limits);
    try {
      const answer = await call(httpRequest, response, request, access);
      if (isStreamBody(answer.body) || answer.body instanceof ReadableStream) streams.stream(response);
      await send(response, answer);
    } catch (thrown) {
      const { errors, definedAt } = route;
      if (!errors || response.headersSent) throw thrown;
      const error = toSvcError(thrown);
      const answer = await behindGate(runtime, definedAt, undefined, async () => {
        const result = await errors(error, request);
        return result && encode({ ...route, output: undefined }, result, httpRequest.method === "HEAD");
      });
      if (!answer) throw thrown;
      exchange.error = error;
      await send(response, { ...answer, headers: { ...errorHeaders(error), ...answer.headers } });
    }
  };

  async function call(
    httpRequest: IncomingMessage,
    response: ServerResponse,
    request: SvcRequest,
    access: "read" | "write",
  ) {
    const session = await authenticate(httpRequest.headers, access);
    exchangeOf(response).session = session;
    streams.begin(response, session);
    admit(session, route);
    return invoke<Answer>(runtime, {
      caller: callerOf(httpRequest, response, session, requests),
      access,
      anonymous: route.anonymous,
      scope: route.scope,
      definedAt: route.definedAt,
      input: readsQuery ? request.query : await jsonInput(request, mediaType(httpRequest)),
      request,
      run: route.run,
      encode: (result) => encode(route, result, httpRequest.method === "HEAD"),
      undo: ({ status }) => status >= 400,
    });
  }
}

/** The parsed body; undefined if it is empty or not JSON. Then the raw readers can read it. */
async function jsonInput(request: SvcRequest, type: string): Promise<unknown> {
  if (!isJson(type)) return undefined;
  const hasBody = request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"]) > 0;
  return hasBody ? request.json() : undefined;
}

/** Beside a content-length, a proxy and a client would disagree about where the answer ends. */
const framing = new Set(["transfer-encoding", "trailer"]);

/** Encodes a handler's result for the wire. @throws SvcError OUTPUT_INVALID, INTERNAL */
async function encode(route: RouteDefinition, result: unknown, isHead: boolean): Promise<Answer> {
  const { status, headers, body } = complete(result);
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new SvcError("INTERNAL", undefined, {
      cause: new Error(`A route returned the status ${status}. It must be from 200 to 599.`),
    });
  }
  const checked = status >= 400 ? body : await checkOutput(route.output, body);
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  // Node rejects these too, but only after the call has been committed.
  for (const [name, value] of Object.entries(lower)) {
    validateHeaderName(name);
    for (const one of [value].flat()) validateHeaderValue(name, one);
    if (framing.has(name)) {
      throw new SvcError("INTERNAL", undefined, {
        cause: new Error(`A route set "${name}: ${value}". Leave the header out: svc frames the answer.`),
      });
    }
  }
  if (checked === undefined || checked === null || status === 204) {
    // Without a body, content-length states the length of the body of a GET, or of the answer that the client already has.
    if (!isHead && status !== 304) checkLength(0);
    return { status, headers: lower, body: undefined };
  }
  if (typeof checked === "string") return withType("text/plain; charset=utf-8", checked);
  if (checked instanceof Uint8Array) return withType("application/octet-stream", checked);
  if (checked instanceof ReadableStream) {
    return withType("application/octet-stream", ReadableStream.from(inThisCall(checked)));
  }
  if (isStreamBody(checked)) return withType("text/plain; charset=utf-8", inThisCall(checked));
  return withType("application/json; charset=utf-8", JSON.stringify(checked));

  function withType(type: string, body: Answer["body"]): Answer {
    if (typeof body === "string" || body instanceof Uint8Array) checkLength(Buffer.byteLength(body));
    return { status, headers: { "content-type": type, ...lower }, body };
  }

  /** Otherwise a client would get half a body, or wait for the rest. */
  function checkLength(bytes: number): void {
    const said = lower["content-length"];
    if (said === undefined || String(said) === String(bytes)) return;
    throw new SvcError("INTERNAL", undefined, {
      cause: new Error(`A route set "content-length: ${said}" for ${bytes} bytes. Leave the header out: svc sets it.`),
    });
  }
}

async function send(response: ServerResponse, { status, headers, body }: Answer): Promise<void> {
  const common = { ...exchangeOf(response).headers, "cache-control": "no-store" };
  const head = (length?: number) =>
    void response.writeHead(status, {
      ...common,
      ...headers,
      ...(length !== undefined && { "content-length": length }),
    });
  const isHead = response.req.method === "HEAD";
  const length = headers["content-length"];
  if (isStreamBody(body) && !(body instanceof ReadableStream) && !isHead)
    return sendStream(body, response, head, length);
  if (isHead) {
    head();
    if (body instanceof ReadableStream) body.cancel().catch(() => {});
    response.end();
  } else if (body instanceof ReadableStream) {
    head();
    // An error on either side ends the other: the client sees a cut answer, the source is cancelled.
    const stream = Readable.fromWeb(body);
    noteBreak(stream, response);
    pipeline([stream, ...enforceContentLength(length, response), response], () => {});
  } else {
    const whole = body as string | Uint8Array | undefined;
    const bytes = Buffer.byteLength(whole ?? "");
    head(whole === undefined ? undefined : bytes);
    response.end(whole);
    countAnswer(response, bytes);
  }
}
