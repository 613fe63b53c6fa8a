/** Endpoints for links in mails: verify an address, and reset a forgotten password. Next hop: `../mail/mail-links.ts`. */
import type { Router } from "express";
import { requireDestination } from "../../http/origin-policy.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { bodyIfAny, requireSession } from "./account.ts";
import { type AuthParts, about, jsonBody, on, requirePasswords } from "./endpoint.ts";
import { rawQuery, redirect, single } from "./redirect.ts";

export function mailLinks(router: Router, parts: AuthParts): void {
  const { credentials, links } = parts;

  on(router, "post", "/send-verification-email", async (request) => {
    const { user } = await requireSession(parts, request);
    await links.requestVerification(user.id, await bodyIfAny(request), about(request));
    return { success: true };
  });

  on(router, "get", "/verify-email", async (request, response) => {
    const query = new URLSearchParams(rawQuery(request));
    // A link that was changed on its way is refused before its token is used.
    const landing = requireDestination(parts.origins, "callbackURL", single(query, "callbackURL") ?? "/");
    const token = single(query, "token");
    // Mail scanners send HEAD requests before the reader opens the link.
    if (request.method === "HEAD") return redirect(response, landing);
    try {
      await links.verify(token, about(request));
      landing.searchParams.delete("error");
      landing.searchParams.set("verified", "true");
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== "BAD_REQUEST") throw error;
      landing.searchParams.delete("verified");
      landing.searchParams.set("error", "invalid_token");
    }
    return redirect(response, landing);
  });

  on(router, "post", "/request-password-reset", async (request) => {
    requirePasswords(credentials.enabled);
    await links.requestReset(await jsonBody(request), about(request));
    return { success: true };
  });

  on(router, "post", "/reset-password", async (request) => {
    requirePasswords(credentials.enabled);
    await links.reset(await jsonBody(request), about(request));
    return { success: true };
  });
}
