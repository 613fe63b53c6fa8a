/**
 * `POST /api/realtime/query/authorize`: checks whether the caller may watch a query, and answers with a grant for the
 * socket. Scoped lists always require one. A body that is encoded as a whole is answered encoded as a whole.
 * Next hop: `src/realtime/subscription-topics.ts` maps queries to topics, the resource's `authorize` decides.
 */
import type { RequestHandler } from "express";
import { invoke, type Runtime } from "../call/invoke.ts";
import type { Caller } from "../contract/caller.ts";
import { parseJson, readBody } from "../http/body.ts";
import { callerOf, exchangeOf, sendJson } from "../http/exchange.ts";
import type { RequestLimits } from "../http/request-limits.ts";
import { decodeCall, decodeWhole, isWhole, noFile } from "../http/wire.ts";
import type { Authenticate } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import { type CallerTeams, callerTeams } from "../realtime/caller-teams.ts";
import { connectionLimits } from "../realtime/connection.ts";
import type { FollowedReads } from "../realtime/followed-reads.ts";
import { type Grants, grantLifetime } from "../realtime/grants.ts";
import type { Grantable, SubscriptionTopics } from "../realtime/subscription-topics.ts";

export interface GrantEndpointOptions {
  authenticate: Authenticate;
  grants: Grants;
  rules: SubscriptionTopics;
  reads: FollowedReads;
  runtime: Runtime;
  requests: Pick<RequestLimits, "holderOf" | "addressOf">;
}

export const grantPath = "/api/realtime/query/authorize";

/** In bytes. */
const maxBody = 8 * 1024;
/** A larger frame would end the socket, with all of its subscriptions. */
const longestToken = connectionLimits.frame - 256;

export function grantEndpoint({
  authenticate,
  grants,
  rules,
  reads,
  runtime,
  requests,
}: GrantEndpointOptions): RequestHandler {
  return async (request, response) => {
    const exchange = exchangeOf(response);
    exchange.operation = grantPath;
    const session = await authenticate(request.headers);
    exchange.session = session;
    const { query, args, decoded, whole } = readRequest(parseJson(await readBody(request, maxBody)));
    const user = session?.user.id ?? null;
    const grantable = rules.grantable(query, args, decoded, user, session?.key);
    const caller = callerOf(request, response, session, requests);
    await requireAuthorized(runtime, grantable, decoded, caller);

    const { policy, key, subscriptionKey } = grantable;
    const related = { tables: grantable.related, unpublished: [], bypassing: [], outside: false };
    const teams = await callerTeams(runtime.requestPool, caller, reads.scopes(related));
    const expiresAt = Date.now() + grantLifetime;
    const sign = (theirs: CallerTeams) => {
      const topics = [...grantable.topics, ...reads.topicsOf(related, user, theirs).topics];
      return grants.sign({ query: key, subscriptionKey, topics, user, expiresAt });
    };
    const narrow = sign(teams);
    const token = narrow.length > longestToken ? sign({}) : narrow; // {}: the tables as a whole
    if (token.length > longestToken) {
      throw new SvcError("BAD_REQUEST", "These arguments are too long for a grant.", {
        hint: "A grant holds them twice, as UTF-8, and fits a frame of the socket: 16 KiB.",
      });
    }
    const answer = { token, subscriptionKey, policy, expiresAt: new Date(expiresAt).toISOString() };
    sendJson(response, 200, JSON.stringify(whole ? { json: answer } : answer));
  };
}

/** @returns `args`, of which the query's key is made, and `decoded`, what a handler would get. */
function readRequest(body: unknown): { query: string; args: unknown; decoded: unknown; whole: boolean } {
  const whole = isWhole(body, ["query", "args"]);
  const { query, args } = Object(whole ? decodeWhole(body, noFile) : body) as { query?: unknown; args?: unknown };
  const name = typeof query === "string" ? query : "";
  return { query: name, args, decoded: whole ? args : decodeCall({ name, args }).args, whole };
}

/** An API key has the scope of the list: `grantable` asked. @throws SvcError FORBIDDEN, or the error that `authorize` throws */
async function requireAuthorized(runtime: Runtime, grantable: Grantable, input: unknown, caller: Caller) {
  const { scoped, anonymous, definedAt } = grantable;
  if (scoped?.policy !== "authorized") return;
  const run = ({ context }: { context: unknown }) =>
    Promise.resolve(scoped.authorize?.({ ctx: context as never, args: (input ?? {}) as never }));
  const call = { caller, input, access: "read" as const, anonymous, definedAt, run, scope: null };
  const allowed = await invoke(runtime, { ...call, encode: (result) => result === true }).catch((error) => {
    if (!(error instanceof SvcError) || error.code !== "INTERNAL") throw error;
    runtime.log.info({ err: error.cause, operation: grantable.key, requestId: caller.requestId }, "authorize refused");
    return false;
  });
  if (!allowed) throw new SvcError("FORBIDDEN", "You may not watch this.");
}
