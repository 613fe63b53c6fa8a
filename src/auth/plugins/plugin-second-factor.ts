/**
 * Requires the second factor after sign-ins by other plugins: a link or code by mail, a wallet, another provider. The library
 * asks for it only after passwords. So a session that such an endpoint opens is ended until the second factor is given.
 * Next hop: `../passwords/second-factor.ts`.
 */

import type { Response as HttpResponse, Request } from "express";
import { sendJson } from "../../http/exchange.ts";
import { jsonIn } from "../../kit/json-in.ts";
import { challenge, hasSecondFactor, isTrusted, methodsOf, secondFactorRequired } from "../passwords/second-factor.ts";
import type { AuthParts } from "../routes/endpoint.ts";
import { redirect, withoutReferrer } from "../routes/redirect.ts";
import type { PluginAnswer } from "./plugin-answers.ts";
import type { PluginEndpoint } from "./plugins.ts";

/**
 * Ids of plugins whose sessions need no further factor: the second factor itself, and administrators acting as a user,
 * who were asked at their own sign-in.
 */
const exempt: ReadonlySet<string> = new Set(["two-factor", "admin"]);

/** Whether the session that an endpoint opens needs no second factor. @param body as the plugin gets it */
export const isExempt = ({ id, path }: Pick<PluginEndpoint, "id" | "path">, body: Buffer): boolean =>
  exempt.has(id) || (id === "passkey" && path === "/passkey/verify-authentication" && isUnlocked(body));

/** The flag "user verified" of authenticator data (WebAuthn Level 3, section 6.1). */
const userVerified = 0x04;

/**
 * Whether the authenticator has verified its user by a PIN, a finger or a face. A passkey is two factors only then: a
 * security key that is merely touched is one, and the plugin takes it. The plugin checks the signature of these data.
 */
function isUnlocked(body: Buffer): boolean {
  const { response } = Object(jsonIn(body.toString()));
  const { authenticatorData: text } = Object(Object(response).response) as { authenticatorData?: unknown };
  if (typeof text !== "string") return false;
  const data = Buffer.from(text, "base64url");
  // Other decoders must read the same bytes.
  return data.toString("base64url") === text && ((data[32] ?? 0) & userVerified) !== 0;
}

/**
 * Replaces the answer of a plugin that opened a session for a user with a second factor, and ends that session.
 *
 * @param began in milliseconds of the epoch: when the plugin was asked
 * @returns false when no second factor is required and the plugin's answer is to be sent
 * @throws SvcError TWO_FACTOR_REQUIRED in token style, which cannot represent a half-finished sign-in
 */
export async function askForSecondFactor(
  parts: AuthParts,
  request: Request,
  response: HttpResponse,
  { answer, credential, token }: PluginAnswer,
  began: number,
): Promise<boolean> {
  const { library, sessionTokens } = parts;
  if (token === null) return false;
  const found = await library.context.internalAdapter.findSession(token);
  // A session that existed before, such as another account of this browser, was checked when it began.
  if (!found || found.session.createdAt.getTime() < began) return false;
  const userId = found.user.id;
  if (!(await hasSecondFactor(library, userId)) || (await isTrusted(library, userId, request.headers.cookie)))
    return false;

  await parts.sessions.end(token);
  if (credential?.style === "token") throw secondFactorRequired();
  // The plugin's own cookies are dropped: they may identify the session.
  response.appendHeader("set-cookie", await challenge(library, userId, sessionTokens));
  withoutReferrer(response); // addresses may contain one-time values
  const location = answer.headers.get("location");
  if (location === null) {
    const twoFactorMethods = await methodsOf(library, userId);
    sendJson(response, 200, JSON.stringify({ twoFactorRedirect: true, twoFactorMethods }));
  } else {
    const url = new URL(location, parts.origins.own);
    url.searchParams.set("error", "two_factor_required");
    redirect(response, url);
  }
  return true;
}
