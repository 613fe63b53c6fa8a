/**
 * Endpoints for links in mails: verify an address, and reset a forgotten password.
 * Next hop: `../mail-links.ts`.
 */
import type { Request, Response, Router } from "express";
import { exchangeOf } from "../../http/exchange.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { bodyIfAny, requireSession } from "./account.ts";
import { type AuthParts, about, jsonBody, on, requirePasswords } from "./endpoint.ts";

export function mailLinks(router: Router, parts: AuthParts): void {
  const { credentials, links } = parts;

  on(router, "post", "/send-verification-email", async (request) => {
    const { user } = await requireSession(parts, request);
    await links.requestVerification(user.id, await bodyIfAny(request), about(request));
    return { success: true };
  });

  on(router, "get", "/verify-email", async (request, response) => {
    const query = queryOf(request);
    // A link that was changed on its way is refused before its token is used.
    const landing = links.destination("callbackURL", single(query, "callbackURL") ?? "/");
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

/** The query as sent. Not Express's parser: the application can configure that one. */
function queryOf({ originalUrl }: Request): URLSearchParams {
  const start = originalUrl.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : originalUrl.slice(start));
}

/** @throws SvcError BAD_REQUEST when it is given twice: other parsers may pick the other value */
function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw new SvcError("BAD_REQUEST", `${name} is given more than once.`);
  return values[0];
}

/** Written by hand, because Express would repeat the address in the body. The token must not leak as Referer. */
function redirect(response: Response, url: URL): undefined {
  const { headers } = exchangeOf(response);
  response.writeHead(302, {
    ...headers,
    location: url.href,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
  });
  response.end();
}
