/**
 * The endpoints of better-auth's plugins, by exactly their paths. The library knows one credential, its session cookie:
 * whichever came is made that cookie on the way in.
 * Next hop: `../plugins.ts` says which they are, better-auth's router answers them, `plugin-answers.ts` passes that on.
 */
import type { Request, Router } from "express";
import { SvcError } from "../../errors/svc-error.ts";
import { readBody } from "../../http/body.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { foreignOrigin } from "../../http/origin-policy.ts";
import { isConnectionLoss } from "../../postgres/errors.ts";
import { bearer } from "../authenticate.ts";
import { addressHeader } from "../library.ts";
import { hasCookies, withoutSession } from "../library-cookies.ts";
import { pluginEndpoints } from "../plugins.ts";
import { type AuthParts, about, maxBody } from "./endpoint.ts";
import { sendAnswer } from "./plugin-answers.ts";
import { countingPasswords } from "./plugin-passwords.ts";
import { askForSecondFactor } from "./plugin-second-factor.ts";

/** The session that came along. */
export interface Credential {
  /** Bare, without its signature. */
  token: string;
  style: "token" | "cookie";
}

const reading = new Set(["GET", "HEAD"]);

/**
 * To be mounted last: the paths that are there are ours.
 *
 * @throws DefinitionError when a plugin's path cannot be mounted
 */
export function plugins(router: Router, parts: AuthParts): void {
  const taken = router.stack.flatMap(({ route }) => (route ? [route.path] : []));
  for (const { id, path, methods } of pluginEndpoints(parts.library, taken)) {
    for (const method of methods) {
      router[method.toLowerCase() as "get" | "post"](path, async (request, response) => {
        exchangeOf(response).operation = `/api/auth${path}`;
        requireOurPage(parts, request);
        const credential = credentialOf(parts, request);
        const inner = await innerRequest(parts, request, credential);
        const ask = () => parts.library.handle(inner).catch(rethrow);
        const began = Date.now();
        const answer = await countingPasswords(parts, request, inner, credential, ask);
        if (await askForSecondFactor(parts, request, response, { id, answer, began, credential })) return;
        await sendAnswer(parts, response, credential, answer);
      });
    }
  }
}

function rethrow(cause: unknown): never {
  throw isConnectionLoss(cause) ? new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause }) : cause;
}

/**
 * Browsers tell whose page asks whenever something may change. Whoever tells nothing is none, and may not bring what a
 * browser would have sent along unasked.
 *
 * @throws SvcError FORBIDDEN
 */
function requireOurPage({ origins }: AuthParts, { method, headers }: Request): void {
  const mayBeAbsent = reading.has(method) || !hasCookies(headers.cookie);
  if (headers.origin === undefined && mayBeAbsent) return;
  if (!origins.allows(headers.origin)) throw foreignOrigin(headers.origin);
}

/** In the header or in the cookie. What is not signed here is none; a header may be a plugin's own business. */
function credentialOf({ sessionTokens, cookie }: AuthParts, { headers }: Request): Credential | null {
  const inHeader = bearer(headers.authorization);
  const token = sessionTokens.open(inHeader ?? cookie.read(headers.cookie) ?? "");
  return token === null ? null : { token, style: inHeader === null ? "cookie" : "token" };
}

/** About the connection, or said again below in our words. */
const withheld =
  /^(?:cookie|connection|content-length|expect|host|keep-alive|te|transfer-encoding|upgrade|x-forwarded-.+)$/;

async function innerRequest(parts: AuthParts, request: Request, credential: Credential | null) {
  const { own } = parts.origins;
  const { method, originalUrl } = request;
  const url = new URL(own + originalUrl);
  // A URL resolves "..", backslashes and the like: what is left may be another path than the one that was matched.
  if (url.origin !== own || url.pathname !== originalUrl.split("?", 1)[0]) throw new SvcError("NOT_FOUND");

  const headers = new Headers();
  for (const [name, value = ""] of Object.entries(request.headers)) {
    if (!withheld.test(name)) headers.set(name, [value].flat().join(", "));
  }
  headers.delete(addressHeader);
  for (const [name, value] of about(request)) headers.set(name, value);
  if (credential?.style === "token") headers.delete("authorization");

  const cookies = [sessionCookie(parts, credential), withoutSession(request.headers.cookie)].filter(Boolean).join("; ");
  if (cookies) headers.set("cookie", cookies);
  // The library wants an origin wherever it sees a cookie. Who sent none has been let through above.
  if (cookies && !headers.has("origin")) headers.set("origin", own);

  const body = reading.has(method) ? null : await readBody(request, maxBody);
  return new Request(url, { method, headers, ...(body?.length && { body: new Uint8Array(body) }) });
}

/** Signed anew: the library verifies with the newest secret alone. */
const sessionCookie = ({ cookie, sessionTokens }: AuthParts, credential: Credential | null): string =>
  credential ? `${cookie.name}=${encodeURIComponent(sessionTokens.sign(credential.token))}` : "";
