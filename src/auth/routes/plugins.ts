/**
 * Serves the endpoints of better-auth's plugins, by their exact paths. All pass the same checks in the same order: the
 * page's origin, the session, the body signed by a bridge, the limits on attempts, the second factor.
 * Next hop: `../plugins/plugin-request.ts` builds the request that better-auth's router answers,
 * `../plugins/plugin-answers.ts` sends its answer, `../plugins/plugins.ts` lists the endpoints.
 */
import type { Request, RequestHandler, Router } from "express";
import { requireShallowJson } from "../../http/body.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { databaseError, sqlState } from "../../postgres/errors.ts";
import { systemIdentity } from "../../postgres/identity.ts";
import { hasCookies } from "../library-cookies.ts";
import { challengeCookie } from "../plugins/passkeys.ts";
import { readAnswer, sendAnswer } from "../plugins/plugin-answers.ts";
import { countingGuesses } from "../plugins/plugin-passwords.ts";
import { type Credential, innerRequest } from "../plugins/plugin-request.ts";
import { askForSecondFactor, isExempt } from "../plugins/plugin-second-factor.ts";
import { type PluginEndpoint, pluginEndpoints } from "../plugins/plugins.ts";
import { isOfBrowser, ofSaml, ofSamlAnswer, requireProvidersPage } from "../plugins/saml-pages.ts";
import { credentialIn, requirePageOfOurs } from "../sessions/authenticate.ts";
import { type AuthParts, about, isReading, readAuthBody, requirePasswords } from "./endpoint.ts";
import { redirect } from "./redirect.ts";

/**
 * Mount it last, so that our own paths take precedence.
 *
 * @throws DefinitionError when a plugin's path cannot be mounted
 */
export function plugins(router: Router, parts: AuthParts): void {
  const taken = router.stack.flatMap(({ route }) => (route ? [route.path] : []));
  for (const endpoint of pluginEndpoints(parts.library, taken)) {
    for (const method of endpoint.methods) {
      router[method.toLowerCase() as "get" | "post"](endpoint.path, answering(parts, endpoint));
    }
  }
}

/** The only handler through which a plugin's endpoint is called. */
function answering(parts: AuthParts, endpoint: PluginEndpoint): RequestHandler {
  const { id, path } = endpoint;
  return async (request, response) => {
    exchangeOf(response).operation = `/api/auth${path}`;
    const isForm = ofSaml.test(path) && request.headers.origin !== undefined && !isReading(request.method);
    if (isForm) await requireProvidersPage(parts, request);
    else requireOurPage(parts, request);
    if (ofPasswords.test(path)) requirePasswords(parts.credentials.enabled);
    const credential = await credentialOf(parts, request);
    const body = await readAuthBody(request);
    requireShallowJson(body);
    if (ofSamlAnswer.test(path) && !isReading(request.method) && !isOfBrowser(parts, request, body)) {
      const { errorURL } = parts.library.context.options.onAPIError ?? {};
      const url = new URL(errorURL ?? "/", parts.origins.own);
      url.searchParams.set("error", "state_mismatch");
      return redirect(response, url, 303);
    }
    const challenge = challengeCookie(parts.library, id, credential, body);
    const inner = innerRequest(parts, request, credential, body, challenge);
    const began = Date.now();
    const ask = () => parts.library.handle(inner).catch(refuseValue);
    const counted = await countingGuesses(parts, endpoint, request, inner, credential, ask);
    const answer = readAnswer(parts, id, credential, counted);
    // It may have changed the user, and the next call of this client may come before the notice.
    if (credential?.live && !isReading(request.method)) parts.verified.forget(credential.live.session.user.id);
    if (!isExempt(endpoint, body) && (await askForSecondFactor(parts, request, response, answer, began))) return;
    const opened = answer.token === null || answer.isError ? null : await parts.sessions.opened(answer.token);
    if (path === "/admin/impersonate-user" && opened && credential?.live) {
      await parts.sessions.bindVisit(opened.session, credential.live.session);
    }
    // After a sign-in, failed attempts of others do not lock this account out on this network.
    if (opened && !credential?.live) await parts.attempts.succeeded(opened.session.user.email, about(request));
    await sendAnswer(parts, response, answer, opened);
  };
}

/** Paths of endpoints that sign in by a password, or set a forgotten one. Their plugins do not ask whether there are passwords. */
const ofPasswords = /^\/sign-in\/(?:username|phone-number)$|(?:reset|forget)-password|password-reset/;

/** SQLSTATEs of a value that the request gave: of a wrong type, missing, taken already, or too large. */
const ofValue = /^(?:22|23|54000)/;

/** A plugin passes values to the database that its schema does not check. @throws SvcError for these, else the error */
function refuseValue(error: unknown): never {
  throw ofValue.test(sqlState(error) ?? "") ? databaseError(error, systemIdentity) : error;
}

/**
 * Checks the page's origin. Browsers send it with every request that may change something. A client without an origin
 * is not a browser, so it may not send cookies.
 *
 * @throws SvcError FORBIDDEN
 */
function requireOurPage({ origins }: AuthParts, { method, headers }: Request): void {
  const mayBeAbsent = isReading(method) || !hasCookies(headers.cookie);
  requirePageOfOurs(origins, headers.origin, mayBeAbsent ? "read" : "write");
}

/**
 * The session token from the header or the cookie. A token that we did not sign is ignored: the header may be meant for
 * the plugin. The signature stays valid after the session has ended, so the database is asked whether the session
 * lives. A client without a session may ask for token style.
 */
async function credentialOf(
  { sessionTokens, sessions, schemes, cookie }: AuthParts,
  { headers }: Request,
): Promise<Credential | null> {
  const inHeader = credentialIn(headers.authorization, schemes);
  const token = sessionTokens.open(inHeader ?? cookie.read(headers.cookie) ?? "");
  if (token === null) return wantsTokens(headers) ? { style: "token", live: null } : null;
  const session = await sessions.find(token);
  return { style: inHeader === null ? "cookie" : "token", live: session && { token, session } };
}

/** Not with cookies of the library: a plugin may answer with the session of an HttpOnly cookie, which scripts must not see. */
const wantsTokens = ({ authorization, cookie, "svc-session": wanted }: Request["headers"]): boolean =>
  wanted === "token" && authorization === undefined && !hasCookies(cookie);
