/** Who calls: made by each transport from its request. And whether that needs a session. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CrudStatement } from "../contract/crud.ts";
import type { Client } from "../contract/handler-auth.ts";
import { exchangeOf } from "../http/exchange.ts";
import type { RequestLimits } from "../http/request-limits.ts";
import type { Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";

/** The caller, and the request id. */
export interface Caller {
  session: Session | null;
  requestId: string;
  /** The holder of the connection share: a user id, or the network of an anonymous caller. (Default: none) */
  holder?: string;
  /** The client that sent the request. (Default: there is no request, as in a job) */
  client?: () => Client;
  /** Whether the caller is the platform itself: a cron, or a job that declares it. (Default: false) */
  system?: boolean;
}

export function callerOf(
  request: IncomingMessage,
  response: ServerResponse,
  session: Session | null,
  requests: Pick<RequestLimits, "holderOf" | "addressOf">,
): Caller {
  const { requestId } = exchangeOf(response);
  const holder = requests.holderOf(request, session);
  return { session, requestId, holder, client: () => clientOf(request, response, requests.addressOf(request)) };
}

function clientOf({ headers }: IncomingMessage, response: ServerResponse, address: string | undefined): Client {
  const left = new AbortController();
  const abort = () => {
    if (!response.writableFinished) left.abort();
  };
  if (response.destroyed || response.closed) abort();
  else response.once("close", abort);
  return { address, userAgent: headers["user-agent"] ?? "", left: left.signal };
}

/** @throws SvcError UNAUTHORIZED */
export function requireSession({ caller, anonymous }: { caller: Pick<Caller, "session">; anonymous: boolean }): void {
  if (!anonymous && !caller.session) throw new SvcError("UNAUTHORIZED");
}

/** What a resource gives to callers with a session, others do not get by including it. */
export function requireSessionOf(statement: CrudStatement, input: unknown, caller: Pick<Caller, "session">): void {
  const closed = caller.session ? undefined : statement.closed?.(input);
  if (closed === undefined) return;
  throw new SvcError("UNAUTHORIZED", `Rows of the relation "${closed}" are for signed-in callers.`, {
    hint: "Sign in, or leave the relation out. The author can set allowAnonymous on the createCrud of its table.",
  });
}
