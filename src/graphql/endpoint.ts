/**
 * `POST /api/graphql`: parses the body, runs the operation and sends the answer. The caller is identified as for a
 * mutation by name, even for queries: a cookie counts only from pages of listed origins.
 * Next hop: `engine.ts`, which is loaded with the first request.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Caller } from "../call/create-context.ts";
import { answerMethods } from "../http/allowed-methods.ts";
import { type BodyLimits, mediaType, parseJson, readBody } from "../http/body.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { errorHeaders, toSvcError } from "../http/errors.ts";
import { exchangeOf, sendJson } from "../http/exchange.ts";
import type { RequestLimits } from "../http/request-limits.ts";
import { check, own, toObject } from "../kit/input-checks.ts";
import { isJson } from "../kit/media-type.ts";
import type { Authenticate } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Engine, EngineOptions, GraphqlRequest } from "./engine.ts";

const path = "/api/graphql";

/** Whether a path belongs to GraphQL. */
export const isGraphqlPath = (asked: string) => asked === path || asked.startsWith(`${path}/`);

export interface GraphqlOptions extends EngineOptions {
  authenticate: Authenticate;
  limits: BodyLimits;
  requests: Pick<RequestLimits, "holderOf">;
  log: Logger;
}

/** Answers one request: 200 when the operation was executed, otherwise the status of the error. */
export function graphqlEndpoint(options: GraphqlOptions): Endpoint {
  const load = engineLoader(options);
  return async (request, response) => {
    const exchange = exchangeOf(response);
    exchange.operation = "graphql";
    const { requestId } = exchange;
    try {
      if (request.method !== "POST" || request.url?.split("?", 1)[0] !== path)
        return await show(request, response, options);
      const session = await options.authenticate(request.headers, "write");
      if (session) exchange.userId = session.user.id;
      const asked = await readRequest(request, options.limits);
      const caller: Caller = { session, requestId, holder: options.requests.holderOf(request, session) };
      const { engine } = await load();
      const { status, body, failure } = await engine(asked, caller);
      if (failure !== undefined) exchange.error = failure;
      sendJson(response, status, body);
    } catch (thrown) {
      const error = toSvcError(thrown);
      exchange.error = error;
      const { refusal } = await import("./errors.ts");
      sendJson(response, error.status, refusal(error, requestId), errorHeaders(error));
    }
  };
}

/** Answers requests other than POST: in development with the page. */
async function show(request: IncomingMessage, response: ServerResponse, { settings }: GraphqlOptions): Promise<void> {
  const isRead = request.method === "GET" || request.method === "HEAD";
  const hint = "Send operations by POST to /api/graphql.";
  if (request.url?.split("?", 1)[0] === path && !(settings.ruru && isRead)) {
    return answerMethods(response, request.method, settings.ruru ? ["GET", "HEAD", "POST"] : ["POST"], hint);
  }
  if (!settings.ruru || !isRead) throw new SvcError("NOT_FOUND", undefined, { hint });
  // An optional package: it is large and has no use in production.
  const { serveRuru } = await import("./ruru.ts").catch((cause) => {
    throw new SvcError("NOT_FOUND", "Ruru is not installed.", { hint: "npm install --save-dev ruru", cause });
  });
  return serveRuru(request, response);
}

/** Loads the engine once. After a failure the next request tries again. */
function engineLoader(options: GraphqlOptions): () => Promise<{ engine: Engine }> {
  let loading: Promise<{ engine: Engine }> | undefined;
  return () => {
    // PostGraphile's checks of its plugins print advice that only their authors need.
    process.env.GRAPHILE_ENV ??= "production";
    loading ??= import("./engine.ts")
      .then(async ({ createEngine }) => ({ engine: await createEngine(options) }))
      .catch((cause) => {
        loading = undefined;
        throw new SvcError("UNAVAILABLE", "GraphQL is not ready.", { cause, retryAfter: 5 });
      });
    return loading;
  };
}

async function readRequest(request: IncomingMessage, limits: BodyLimits): Promise<GraphqlRequest> {
  if (!isJson(mediaType(request))) {
    throw new SvcError("UNSUPPORTED_MEDIA_TYPE", undefined, { hint: "Send application/json." });
  }
  const body = parseJson(await readBody(request, limits.jsonBytes));
  if (Array.isArray(body)) {
    throw new SvcError("VALIDATION_FAILED", "One request holds one operation.", {
      hint: "Send them one by one, or as several fields of one operation.",
    });
  }
  return check((issues) => {
    const object = toObject(body, issues);
    const [query, operationName, variables] = ["query", "operationName", "variables"].map((key) => own(object, key));
    const refuse = (key: string, message: string) => void issues.push({ path: [key], message });
    if (typeof query !== "string") refuse("query", "must be a string");
    if (typeof (operationName ?? "") !== "string") refuse("operationName", "must be a string");
    if (typeof (variables ?? {}) !== "object" || Array.isArray(variables)) refuse("variables", "must be an object");
    return {
      query: query as string,
      operationName: (operationName as string | undefined | null) ?? null,
      variables: (variables as Record<string, unknown> | undefined | null) ?? {},
    };
  });
}
