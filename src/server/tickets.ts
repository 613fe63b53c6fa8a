/**
 * `POST /api/realtime/ticket`: a browser cannot send a header with a WebSocket. Instead of a credential, which would
 * appear in addresses and logs, it sends a ticket that works once and expires soon.
 * Next hop: `src/auth/mail/one-time-tokens.ts`.
 */
import type { RequestHandler } from "express";
import type { Auth } from "../auth/create-auth.ts";
import type { OneTimeTokens } from "../auth/mail/one-time-tokens.ts";
import { sessionUser } from "../auth/user-fields.ts";
import type { AuthDefinition } from "../contract/auth.ts";
import { exchangeOf, sendJson } from "../http/exchange.ts";
import type { Authenticate, Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";

export const ticketPath = "/api/realtime/ticket";

/** In seconds. */
const lifetime = 30;

export function ticketEndpoint(once: OneTimeTokens, authenticate: Authenticate): RequestHandler {
  return async (request, response) => {
    exchangeOf(response).operation = ticketPath;
    const session = await authenticate(request.headers);
    if (!session) throw new SvcError("UNAUTHORIZED");
    exchangeOf(response).session = session;
    sendJson(response, 200, JSON.stringify({ ticket: await once.add("realtime-ticket", session, lifetime) }));
  };
}

/** The session of a ticket, unless it has ended. A ticket works once. @param definition with the fields of a user */
export async function redeemTicket(
  { once, hasSession }: Pick<Auth, "once" | "hasSession">,
  definition: AuthDefinition,
  ticket: string,
): Promise<Session | null> {
  const session = await once.take<Session>("realtime-ticket", ticket);
  if (!session || !(await hasSession(session.id))) return null;
  const { id, email, name, ...fields } = session.user;
  return { ...session, user: sessionUser(definition.user?.additionalFields ?? {}, { id, email, name }, fields) };
}
