/**
 * Endpoints for a user's own account: change the password, sign out everywhere, delete the account. They accept a JWT,
 * a session token or the cookie.
 * Next hop: `../accounts.ts`.
 */
import type { Request, Response, Router } from "express";
import type { Session } from "../../kit/session.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { credentialIn } from "../sessions/authenticate.ts";
import { type AuthParts, about, jsonBody, on, requirePasswords } from "./endpoint.ts";

/** @throws SvcError UNAUTHORIZED; FORBIDDEN by cookie from an origin that is not listed */
export async function requireSession(
  { authenticate }: AuthParts,
  { headers }: Request,
  access: "read" | "write" = "write",
): Promise<Session> {
  const session = await authenticate(headers, access);
  if (!session) throw new SvcError("UNAUTHORIZED");
  return session;
}

/** The body of an endpoint where it is optional. */
export async function bodyIfAny(request: Request): Promise<unknown> {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  return length === "0" && encoding === undefined ? {} : jsonBody(request);
}

export function account(router: Router, parts: AuthParts): void {
  const { accounts, cookie, credentials, schemes } = parts;

  /** Removes the cookie of a browser that sent it. */
  const clearCookie = ({ headers }: Request, response: Response) => {
    if (credentialIn(headers.authorization, schemes) === null) response.setHeader("set-cookie", cookie.clear());
  };

  on(router, "post", "/change-password", async (request) => {
    requirePasswords(credentials.enabled);
    const session = await requireSession(parts, request);
    await accounts.changePassword(session, await jsonBody(request), about(request));
    return { success: true };
  });

  on(router, "post", "/delete-user", async (request, response) => {
    const session = await requireSession(parts, request);
    await accounts.delete(session, await bodyIfAny(request), about(request));
    clearCookie(request, response);
    return { success: true };
  });

  on(router, "post", "/sign-out-everywhere", async (request, response) => {
    await accounts.signOutEverywhere(await requireSession(parts, request));
    clearCookie(request, response);
    return { success: true };
  });
}
