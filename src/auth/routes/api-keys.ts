/**
 * Endpoints for the API keys of a user, and the rule that a key opens no endpoint below /api/auth.
 * Next hop: `../api-keys/api-keys.ts`.
 */
import type { Router } from "express";
import { looksLikeKey } from "../../kit/key-format.ts";
import { SvcError } from "../../kit/svc-error.ts";
import type { ApiKeys } from "../api-keys/api-keys.ts";
import { credentialIn } from "../sessions/authenticate.ts";
import { requireSession } from "./account.ts";
import { type AuthParts, jsonBody, on } from "./endpoint.ts";

/** Mount it before all endpoints. A key is not a session: it neither ends nor makes one, and it changes no account. */
export function refuseKeys(router: Router, schemes: readonly string[], prefix: string): void {
  router.use((request, _response, next) => {
    const credential = credentialIn(request.headers.authorization, schemes);
    if (credential === null || !looksLikeKey(credential, prefix)) return next();
    throw new SvcError("FORBIDDEN", "An API key does not open the endpoints below /api/auth.", {
      hint: "Sign in, and send the session's token. A key is for calls, files, exports and sockets.",
    });
  });
}

export function apiKeys(router: Router, parts: AuthParts, keys: ApiKeys): void {
  on(router, "post", "/api-keys", async (request) =>
    keys.create(await requireSession(parts, request), await jsonBody(request)),
  );

  on(router, "get", "/api-keys", async (request) => ({
    apiKeys: await keys.list(await requireSession(parts, request, "read")),
  }));

  on(router, "delete", "/api-keys/:id", async (request) => {
    await keys.revoke(await requireSession(parts, request), String(request.params.id));
    return { success: true };
  });

  on(router, "delete", "/api-keys", async (request) => ({
    revoked: await keys.revoke(await requireSession(parts, request), null),
  }));
}
