/**
 * Converts the answer of a plugin's endpoint: sessions in the client's style, errors in our form.
 * Next hop: `../../http/exchange.ts`.
 */
import type { Response } from "express";
import { exchangeOf, sendJson } from "../../http/exchange.ts";
import type { ErrorCode } from "../../kit/error-codes.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { splitSession } from "../library-cookies.ts";
import { type AuthParts, setSession, tokensOf } from "../routes/endpoint.ts";
import { withoutReferrer } from "../routes/redirect.ts";
import type { Credential } from "./plugin-request.ts";

/** Headers of the library that describe its answer. We set all others, above all CORS. */
const passed = /^(?:content-(?:disposition|language|type)|location|www-authenticate)$/;

/** @throws SvcError for an error answer */
export async function sendAnswer(
  parts: AuthParts,
  response: Response,
  credential: Credential | null,
  answer: globalThis.Response,
): Promise<void> {
  const { session, others } = splitSession(answer.headers.getSetCookie(), parts.cookie.name);
  const fresh = session === null ? null : parts.sessionTokens.open(session);
  const isTokenStyle = credential?.style === "token";
  // A sign-in that was undone at its end (second-factor.ts) has set cookies of a session that no longer exists.
  if (answer.status >= 400 && fresh !== null) throw await refusal(answer);
  if (fresh !== null && !isTokenStyle) setSession(parts, response, await parts.sessions.opened(fresh));
  else if (session !== null && !isTokenStyle) response.setHeader("set-cookie", parts.cookie.clear());
  for (const line of others) response.appendHeader("set-cookie", line);
  withoutReferrer(response); // addresses may contain one-time values
  if (answer.status >= 400) throw await refusal(answer);

  const headers = Object.fromEntries([...answer.headers].filter(([name]) => passed.test(name)));
  const text = await answer.text();
  const { "content-type": type = "", ...further } = headers;
  if (text && type.startsWith("application/json")) {
    const body = await inStyle(parts, JSON.parse(text), credential, fresh);
    return sendJson(response, answer.status, JSON.stringify(body), further);
  }
  response.writeHead(answer.status, { ...exchangeOf(response).headers, ...headers, "cache-control": "no-store" });
  response.end(text);
}

/**
 * The library answers with bare session tokens. In cookie style scripts must not see them; in token style a new session
 * is returned in the same form as by a sign-in.
 */
async function inStyle(parts: AuthParts, body: unknown, credential: Credential | null, fresh: string | null) {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const { token, ...rest } = body as { token?: unknown };
  const isSession = token === undefined || token === fresh || token === credential?.live?.token;
  const kept = isSession ? rest : { ...rest, token };
  if (credential?.style !== "token" || fresh === null) return kept;
  return { ...kept, ...(await tokensOf(parts, await parts.sessions.opened(fresh))) };
}

const byStatus = new Map<number, ErrorCode>([
  [401, "UNAUTHORIZED"],
  [403, "FORBIDDEN"],
  [404, "NOT_FOUND"],
  [409, "CONFLICT"],
  [413, "PAYLOAD_TOO_LARGE"],
  [415, "UNSUPPORTED_MEDIA_TYPE"],
  [429, "RATE_LIMITED"],
]);

/** The plugin's own code, such as INVALID_CODE, becomes the hint: our codes are a closed set. */
async function refusal(answer: globalThis.Response): Promise<SvcError> {
  const said = await answer.json().catch(() => null);
  const { message, code } = (said ?? {}) as { message?: unknown; code?: unknown };
  const word = typeof code === "string" ? code : undefined;
  const cause = new Error(`A plugin's endpoint answered ${answer.status} ${word ?? ""}`.trim());
  if (answer.status >= 500) return new SvcError("INTERNAL", undefined, { cause });
  const ours = word === "VALIDATION_ERROR" ? "VALIDATION_FAILED" : (byStatus.get(answer.status) ?? "BAD_REQUEST");
  const seconds = Number(answer.headers.get("x-retry-after"));
  return new SvcError(ours, typeof message === "string" && message ? message : undefined, {
    ...(word && word !== ours && { hint: word }),
    ...(seconds > 0 && { retryAfter: seconds }),
    cause,
  });
}
