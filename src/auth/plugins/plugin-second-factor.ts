/**
 * Sign-ins by plugins that know nothing of a second factor: a link or a code by mail, a wallet, another provider. The
 * library asks for it after passwords alone, so what such an endpoint has opened is closed again until it was asked for.
 * Next hop: `../second-factor.ts`.
 */
import type { Response as HttpResponse, Request } from "express";
import { exchangeOf, sendJson } from "../../http/exchange.ts";
import { splitSession } from "../library-cookies.ts";
import { challenge, hasSecondFactor, isTrusted, methodsOf, secondFactorRequired } from "../passwords/second-factor.ts";
import type { AuthParts } from "../routes/endpoint.ts";
import type { Credential } from "./credential.ts";

/**
 * Whose sessions need no further factor: the second factor itself; a passkey, which is something that one has and unlocks;
 * and an administrator in the place of a user, who was asked when the administrator signed in.
 */
const exempt = new Set(["two-factor", "passkey", "admin"]);

/** A plugin's answer to a request. */
export interface PluginAnswer {
  /** The plugin's id. */
  id: string;
  answer: Response;
  /** In milliseconds of the epoch: when the plugin was asked. */
  began: number;
  credential: Credential | null;
}

/**
 * Answers in place of a plugin that has opened a session for somebody with a second factor, and ends that session.
 *
 * @returns false where there is nothing to ask for, and the plugin's answer is to be passed on
 * @throws SvcError TWO_FACTOR_REQUIRED in token style, which has nothing that could stand for half a sign-in
 */
export async function askForSecondFactor(
  parts: AuthParts,
  request: Request,
  response: HttpResponse,
  { id, answer, began, credential }: PluginAnswer,
): Promise<boolean> {
  const { library, sessionTokens } = parts;
  if (exempt.has(id)) return false;
  const { session } = splitSession(answer.headers.getSetCookie(), parts.cookie.name);
  const token = session === null ? null : sessionTokens.open(session);
  if (token === null) return false;
  const found = await library.context.internalAdapter.findSession(token);
  // One that was there before, such as another account of this browser that is turned to, was asked when it began.
  if (!found || found.session.createdAt.getTime() < began) return false;
  const userId = found.user.id;
  if (!(await hasSecondFactor(library, userId)) || (await isTrusted(library, userId, request.headers.cookie)))
    return false;

  await parts.sessions.end(token);
  if (credential?.style === "token") throw secondFactorRequired();
  // The plugin's own cookies are left out: they may stand for the session.
  response.appendHeader("set-cookie", await challenge(library, userId, sessionTokens));
  const { headers } = exchangeOf(response);
  headers["referrer-policy"] = "no-referrer"; // addresses may have one-time values in them
  const location = answer.headers.get("location");
  if (location === null) {
    const twoFactorMethods = await methodsOf(library, userId);
    sendJson(response, 200, JSON.stringify({ twoFactorRedirect: true, twoFactorMethods }));
  } else {
    const url = new URL(location, parts.origins.own);
    url.searchParams.set("error", "two_factor_required");
    response.writeHead(302, { ...headers, location: url.href, "cache-control": "no-store" });
    response.end();
  }
  return true;
}
