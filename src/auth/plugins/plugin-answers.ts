/**
 * Converts the answer of a plugin's endpoint: sessions in the client's style, errors in our form, or in that of SCIM.
 * Next hop: `../../http/exchange.ts`.
 */
import type { Response } from "express";
import { exchangeOf, sendJson } from "../../http/exchange.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { currentCaller } from "../caller.ts";
import { splitSession } from "../library-cookies.ts";
import { statusErrors } from "../refusals.ts";
import { type AuthParts, publicUser, setSession, tokensOf } from "../routes/endpoint.ts";
import { withoutReferrer } from "../routes/redirect.ts";
import type { Opened } from "../sessions/session-store.ts";
import { challengeMember } from "./passkeys.ts";
import type { Credential } from "./plugin-request.ts";
import { forForms } from "./saml-pages.ts";

/** Headers of the library that describe its answer. We set all others, above all CORS. */
const passed = /^(?:content-(?:disposition|language|type)|location|www-authenticate)$/;

/** A plugin's answer to a request, and what it does to the session. */
export interface PluginAnswer {
  /** Of the plugin. */
  id: string;
  answer: globalThis.Response;
  isError: boolean;
  /** Of the caller. */
  credential: Credential | null;
  /** Bare token of the session that the answer sets; null when it sets none. */
  token: string | null;
  /** Whether it removes the session cookie. */
  clears: boolean;
  /** Its other cookies. */
  cookies: string[];
}

export function readAnswer(
  { cookie, sessionTokens }: AuthParts,
  id: string,
  credential: Credential | null,
  answer: globalThis.Response,
): PluginAnswer {
  const { session, others: cookies } = splitSession(answer.headers.getSetCookie(), cookie.name);
  const token = session === null ? null : sessionTokens.open(session);
  const clears = session !== null && token === null;
  return { id, answer, isError: answer.status >= 400, credential, token, clears, cookies };
}

/**
 * @param opened the session that the answer sets
 * @throws SvcError for an error answer that is not of SCIM
 */
export async function sendAnswer(
  parts: AuthParts,
  response: Response,
  { id, answer, isError, credential, token, clears, cookies }: PluginAnswer,
  opened: Opened | null,
): Promise<void> {
  // A sign-in that was undone at its end (second-factor.ts) has set cookies of a session that no longer exists.
  if (isError && token !== null) throw await refusal(answer);
  if (credential?.style !== "token") {
    if (opened) setSession(parts, response, opened);
    if (clears) response.setHeader("set-cookie", parts.cookie.clear());
  }
  const challenge = challengeMember(parts.library, id, credential, cookies);
  for (const line of cookies) response.appendHeader("set-cookie", forForms(parts.library, line));
  withoutReferrer(response); // addresses may contain one-time values
  if (isError && !isOfScim(answer)) throw await refusal(answer);

  const headers = Object.fromEntries([...answer.headers].filter(([name]) => passed.test(name)));
  const retryAfter = retryAfterOf(answer);
  if (retryAfter) headers["retry-after"] = String(retryAfter);
  const text = await answer.text();
  const { "content-type": type = "", ...further } = headers;
  if (text && type.startsWith("application/json")) {
    const body = await inStyle(parts, JSON.parse(text), credential, opened);
    if (id === "device-authorization") signAccess(parts, body);
    return sendJson(
      response,
      answer.status,
      JSON.stringify(challenge ? Object.assign(Object(body), challenge) : body),
      further,
    );
  }
  response.writeHead(answer.status, { ...exchangeOf(response).headers, ...headers, "cache-control": "no-store" });
  response.end(text);
}

/** A directory reads refusals in the form of SCIM alone (RFC 7644, section 3.12). */
const isOfScim = ({ status, headers }: globalThis.Response) =>
  status < 500 && headers.get("content-type")?.startsWith("application/scim+json");

/**
 * The library answers with bare session tokens. In cookie style scripts must not see them; in token style a new session
 * is returned in the same form as by a sign-in.
 */
async function inStyle(parts: AuthParts, body: unknown, credential: Credential | null, opened: Opened | null) {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const { token, ...rest } = body as { token?: unknown };
  const isSession = token === undefined || token === opened?.token || token === credential?.live?.token;
  const kept = isSession ? rest : { ...rest, token };
  if (credential?.style !== "token" || !opened) return kept;
  return { user: publicUser(opened.session.user), ...kept, ...(await tokensOf(parts, opened)) };
}

/** This plugin opens a session without a cookie. Clients hold session tokens with their signature. */
function signAccess({ sessionTokens }: AuthParts, body: unknown): void {
  const grant = Object(body) as { access_token?: unknown };
  if (typeof grant.access_token === "string") grant.access_token = sessionTokens.sign(grant.access_token);
}

const byStatus: typeof statusErrors = { ...statusErrors, 413: "PAYLOAD_TOO_LARGE", 415: "UNSUPPORTED_MEDIA_TYPE" };

/** In seconds: as the answer says, or our count of new users. */
function retryAfterOf({ status, headers }: globalThis.Response): number | undefined {
  const counted = status === 429 ? currentCaller()?.retryAfter : undefined;
  const seconds = Number(headers.get("x-retry-after") ?? counted);
  return seconds > 0 ? seconds : undefined;
}

/** The plugin's own code, such as INVALID_CODE, becomes the hint: our codes are a closed set. */
async function refusal(answer: globalThis.Response): Promise<SvcError> {
  const said: unknown = await answer.json().catch(() => null);
  // Endpoints of OAuth answer `error` and `error_description` (RFC 6749, section 5.2), and clients read `error`. A device
  // asks again after "authorization_pending" and stops after "access_denied".
  const { error, error_description: description } = Object(said) as Record<string, unknown>;
  const { message = error, code = description } = Object(said) as Record<string, unknown>;
  const word = typeof code === "string" ? code : undefined;
  const cause = new Error(`A plugin's endpoint answered ${answer.status} ${word ?? ""}`.trim());
  const retryAfter = retryAfterOf(answer);
  if (answer.status === 503) return new SvcError("UNAVAILABLE", undefined, { retryAfter, cause });
  if (answer.status >= 500) return new SvcError("INTERNAL", undefined, { cause });
  const ours = word === "VALIDATION_ERROR" ? "VALIDATION_FAILED" : (byStatus[answer.status] ?? "BAD_REQUEST");
  return new SvcError(ours, typeof message === "string" && message ? message : undefined, {
    ...(word && word !== ours && { hint: word }),
    retryAfter,
    cause,
  });
}
