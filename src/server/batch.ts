/**
 * `POST /api/batch`: several mutations in one transaction. The body is `{ "calls": [{ "name", "args" }, …] }`; the answer
 * has their results in the same order, each in the form of its own answer: `{ "results": [{ "json": … }, …] }`.
 * Next hop: `src/call/batch.ts`.
 */
import { type BatchCall, invokeBatch } from "../call/batch.ts";
import { admit } from "../call/invoke.ts";
import { keyOf } from "../call/keyed-calls.ts";
import { mediaType, parseJson, readBody } from "../http/body.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { callerOf, exchangeOf, sendJson } from "../http/exchange.ts";
import { decodeCall, wireLimits } from "../http/wire.ts";
import { isJson } from "../kit/media-type.ts";
import type { Session } from "../kit/session.ts";
import { atIndex, SvcError } from "../kit/svc-error.ts";
import { answerHeaders, findProcedure, type ProcedureTransport } from "./procedures.ts";
import { positionOf } from "./replica-reads.ts";

export function batchEndpoint(transport: ProcedureTransport): Endpoint {
  return async (request, response) => {
    const exchange = exchangeOf(response);
    exchange.operation = "batch";
    const session = await transport.authenticate(request.headers, "write");
    exchange.session = session;
    if (!isJson(mediaType(request))) {
      throw new SvcError("UNSUPPORTED_MEDIA_TYPE", undefined, {
        hint: "Send application/json. Upload files first, and pass their ids.",
      });
    }
    const key = keyOf(request.headers, session);
    const body = parseJson(await readBody(request, transport.limits.jsonBytes, session ? undefined : refuseLarge));
    const calls = callsIn(body).map((call, index) => callOf(transport, call, session, index));
    transport.requests.countCalls(request, session, calls.length - 1);
    const caller = callerOf(request, response, session, transport.requests);
    const { results, replayed } = await invokeBatch(transport.runtime, calls, caller, key);
    const position = transport.replicas && (await positionOf(transport.replicas));
    sendJson(response, 200, `{"results":[${results.join(",")}]}`, answerHeaders({ position, replayed }));
  };
}

/** Refuse before more than 16 KiB are held: which procedures a batch calls is known only from all of it. */
function refuseLarge(): never {
  throw new SvcError("PAYLOAD_TOO_LARGE", "Without a session, a batch may have at most 16 KiB.");
}

/** @throws SvcError VALIDATION_FAILED */
function callsIn(body: unknown): unknown[] {
  const calls = (body as { calls?: unknown } | null)?.calls;
  const most = wireLimits.calls;
  if (Array.isArray(calls) && calls.length > 0 && calls.length <= most) return calls;
  throw new SvcError("VALIDATION_FAILED", 'Send { "calls": [{ "name": "module.operation", "args": … }] }.', {
    issues: [{ path: ["calls"], message: `must be a list of 1 to ${most} calls` }],
  });
}

/** @throws SvcError with the index of the call */
function callOf(transport: ProcedureTransport, call: unknown, session: Session | null, index: number): BatchCall {
  try {
    const { name, args } = decodeCall(call);
    const procedure = findProcedure(transport, name, "mutation");
    admit(session, procedure);
    return { procedure, input: args };
  } catch (error) {
    throw error instanceof SvcError ? atIndex(index, error) : error;
  }
}
