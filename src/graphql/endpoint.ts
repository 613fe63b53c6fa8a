/**
 * `POST /api/graphql`: parses the body, runs the operation and sends the answer. The caller is identified as for a
 * mutation by name, even for queries: a cookie counts only from pages of listed origins.
 * Source: https://graphql.github.io/graphql-over-http/draft/
 * Next hop: `engine.ts`, which is loaded with the first request; in production before the service listens.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { answerMethods } from "../http/allowed-methods.ts";
import { type BodyLimits, mediaType, parseJson, readBody } from "../http/body.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { errorHeaders, toSvcError } from "../http/errors.ts";
import { callerOf, exchangeOf, sendJson } from "../http/exchange.ts";
import type { RequestLimits } from "../http/request-limits.ts";
import { check, own, toObject } from "../kit/input-checks.ts";
import { loadedOnce } from "../kit/loaded-once.ts";
import { isJson, quality } from "../kit/media-type.ts";
import { requirePackages, requirePackagesForCall } from "../kit/optional-packages.ts";
import type { Authenticate } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Engine, EngineOptions, GraphqlRequest } from "./engine.ts";

const path = "/api/graphql";

export const isGraphqlPath = (asked: string) => asked === path || asked.startsWith(`${path}/`);

export interface GraphqlOptions extends EngineOptions {
  authenticate: Authenticate;
  limits: BodyLimits;
  requests: Pick<RequestLimits, "addressOf" | "holderOf" | "countCalls">;
  /** In production GraphQL is on only if the configuration says so: a missing package then prevents the start. */
  production: boolean;
}

/**
 * Answers one request: 200 when the operation was executed, otherwise the error's status.
 *
 * @throws DefinitionError in production, if the packages for GraphQL are not installed
 */
export async function graphqlEndpoint(options: GraphqlOptions): Promise<Endpoint> {
  const load = engineLoader(options);
  if (options.production) {
    requirePackages("graphql");
    // With hundreds of tables it takes seconds, in which the process answers nothing, not even a health check.
    await load().catch((err) => options.runtime.log.warn({ err }, "GraphQL is not ready: a request tries again"));
  }
  return async (request, response) => {
    const exchange = exchangeOf(response);
    exchange.operation = "graphql";
    requirePackagesForCall("graphql"); // GraphQL's form of errors needs them too
    const { requestId } = exchange;
    const type = answerType(request.headers.accept);
    const contentType = { "content-type": `${type}; charset=utf-8` };
    let asked: GraphqlRequest | undefined;
    try {
      if (request.method !== "POST" || request.url?.split("?", 1)[0] !== path)
        return await show(request, response, options);
      const session = await options.authenticate(request.headers, "write");
      exchange.session = session;
      asked = await readRequest(request, options.limits);
      const caller = callerOf(request, response, session, options.requests);
      const { engine } = await load();
      const count = (calls: number) => options.requests.countCalls(request, session, calls);
      const { body, failure } = await engine(asked, caller, count);
      if (failure !== undefined) exchange.error = failure;
      sendJson(response, 200, body, contentType);
    } catch (thrown) {
      const error = toSvcError(thrown);
      exchange.error = error;
      const { refusal } = await import("./errors.ts");
      // Clients of the plain type take any other status for a proxy's answer, so the standard has 200 for a bad document.
      const isBadDocument = asked !== undefined && error.code === "VALIDATION_FAILED";
      const status = isBadDocument && type === plainType ? 200 : error.status;
      sendJson(response, status, refusal(error, requestId), { ...contentType, ...errorHeaders(error) });
    }
  };
}

const ownType = "application/graphql-response+json";
const plainType = "application/json";

/** GraphQL's own type where `Accept` names it and does not prefer the plain one. */
function answerType(accept: string | undefined): string {
  const wanted = quality(accept, ownType);
  return wanted > 0 && wanted >= quality(accept, plainType) ? ownType : plainType;
}

/** Answers requests other than POST: in development with the page, unless another type is asked for. */
async function show(request: IncomingMessage, response: ServerResponse, { settings }: GraphqlOptions): Promise<void> {
  const hasPage = settings.ruru && /text\/html|\*\/\*/i.test(request.headers.accept ?? "*/*");
  const isForPage = hasPage && (request.method === "GET" || request.method === "HEAD");
  const hint = "Send operations by POST to /api/graphql.";
  if (request.url?.split("?", 1)[0] === path && !isForPage) {
    return answerMethods(response, request.method, hasPage ? ["GET", "HEAD", "POST"] : ["POST"], hint);
  }
  if (!isForPage) throw new SvcError("NOT_FOUND", undefined, { hint });
  requirePackagesForCall("ruru");
  const { serveRuru } = await import("./ruru.ts");
  return serveRuru(request, response);
}

/** Loads the engine once. After a failure the next request tries again. */
function engineLoader(options: GraphqlOptions): () => Promise<{ engine: Engine }> {
  return loadedOnce(async () => {
    // PostGraphile's checks of its plugins print advice that only their authors need.
    process.env.GRAPHILE_ENV ??= "production";
    try {
      const { createEngine } = await import("./engine.ts");
      return { engine: await createEngine(options) };
    } catch (cause) {
      throw new SvcError("UNAVAILABLE", "GraphQL is not ready.", { cause, retryAfter: 5 });
    }
  });
}

async function readRequest(request: IncomingMessage, limits: BodyLimits): Promise<GraphqlRequest> {
  const type = mediaType(request);
  if (type === "" || !isJson(type)) {
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
    const { persistedQuery } = toObject(own(object, "extensions") ?? {}, []);
    if (persistedQuery && own(object, "query") === undefined) {
      // The text by which clients know that they have to send the query.
      const hint = "Send the query itself: this service keeps no persisted queries.";
      throw new SvcError("VALIDATION_FAILED", "PersistedQueryNotSupported", { hint });
    }
    const member = (key: string, type: "string" | "object", byDefault?: unknown) => {
      const value = own(object, key) ?? byDefault;
      if (typeof value === type && !Array.isArray(value)) return value;
      issues.push({ path: [key], message: `must be ${type === "string" ? "a string" : "an object"}` });
    };
    member("extensions", "object", {}); // the standard has them for anything; there are none here
    return {
      query: member("query", "string") as string,
      operationName: (member("operationName", "string", "") as string) || null,
      variables: withoutPrototypes(member("variables", "object", {}) as Record<string, unknown>),
    };
  });
}

/** graphql-js takes `constructor` of Object.prototype for a value where a table has such a column and the caller says nothing of it. */
function withoutPrototypes(variables: Record<string, unknown>): Record<string, unknown> {
  const open: unknown[] = [variables];
  for (const value of open) {
    if (typeof value !== "object" || value === null) continue;
    if (!Array.isArray(value)) Object.setPrototypeOf(value, null);
    for (const inner of Object.values(value)) open.push(inner);
  }
  return variables;
}
