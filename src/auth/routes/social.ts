/**
 * Social sign-in: redirect to the provider, callback, and, in token mode, the exchange of a one-time code for a session.
 * Next hop: `../social/provider.ts` and `../social/social-accounts.ts`.
 */
import type { Request, Response, Router } from "express";
import { requireDestination } from "../../http/origin-policy.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { challenge, hasSecondFactor, isTrusted, secondFactorRequired } from "../passwords/second-factor.ts";
import type { Flow } from "../social/flows.ts";
import { labelOf, variablesOf } from "../social/names.ts";
import type { Provider } from "../social/provider.ts";
import type { Providers } from "../social/providers.ts";
import { chooseMode, type Result, requireMode, withResult } from "../social/return-mode.ts";
import { type AuthParts, about, jsonBody, on, readAuthBody, setSession, tokenAnswer } from "./endpoint.ts";
import { rawQuery, redirect, single, withoutReferrer } from "./redirect.ts";

/** The content of a one-time code. */
interface Redeemable {
  userId: string;
  /** Origin of the page that got the code; no other page may redeem it. */
  origin: string;
}

/** In seconds: how long a page has to redeem its code. */
const codeLifetime = 60;

const startPath = "/sign-in/social/redirect";

export function social(router: Router, parts: AuthParts): void {
  const { library, once, origins, sessions, sessionTokens } = parts;
  const { flows, providers, modes, accounts } = parts.social;

  on(router, "get", startPath, async (request, response) => {
    withoutReferrer(response);
    const query = new URLSearchParams(rawQuery(request));
    const provider = providerNamed(single(query, "provider"), providers);
    const mode = chooseMode(modes, single(query, "oauthReturnMode"));
    const callbackURL = requireDestination(origins, "callbackURL", single(query, "callbackURL") ?? "/").href;
    const elsewhere = ownAddress(parts, request);
    if (elsewhere) return redirect(response, elsewhere);

    const { checks, url } = await provider.begin();
    const { state, cookie } = await flows.begin({ ...checks, provider: provider.id, callbackURL, mode });
    response.appendHeader("set-cookie", cookie);
    return redirect(response, url(state));
  });

  for (const id of providers.keys()) {
    on(router, "get", `/callback/${id}`, async (request, response) => {
      withoutReferrer(response);
      const provider = providerNamed(id, providers);
      const query = rawQuery(request);
      const state = single(new URLSearchParams(query), "state");
      const flow = await flows.resume(id, state, request.headers.cookie);
      if (state === undefined || !origins.allows(new URL(flow.callbackURL).origin)) {
        throw new SvcError("BAD_REQUEST", "The page that began this sign-in is no longer listed.", {
          hint: "Begin again.",
        });
      }

      const result = await complete(provider, query, state, flow, request, response).catch((err): Result => {
        parts.social.log.error({ err }, "social sign-in failed");
        return { error: "internal_error" };
      });
      response.appendHeader("set-cookie", flows.end(state));
      return redirect(response, withResult(flow.callbackURL, result));
    });
  }

  // Browsers send no cookie with a form from Apple's page. They do with the redirect that follows.
  if (providers.has("apple")) {
    on(router, "post", "/callback/apple", async (request, response) => {
      const url = new URL("/api/auth/callback/apple", origins.own);
      url.search = new URLSearchParams((await readAuthBody(request)).toString()).toString();
      return redirect(response, url, 303);
    });
  }

  /** From the provider's answer to the result that the application gets. */
  async function complete(
    provider: Provider,
    query: string,
    state: string,
    flow: Flow,
    request: Request,
    response: Response,
  ): Promise<Result> {
    const answer = await provider.finish(query, state, flow);
    if ("failure" in answer) return { error: answer.failure };
    const found = await accounts.find(provider.id, answer.profile);
    if ("failure" in found) return { error: found.failure };
    const { userId } = found;
    const isSpared = flow.mode === "cookie" && (await isTrusted(library, userId, request.headers.cookie));
    if (!isSpared && (await hasSecondFactor(library, userId))) {
      // In cookie mode the second factor follows, as after a password. Token mode cannot represent a half-finished sign-in.
      if (flow.mode === "cookie") response.appendHeader("set-cookie", await challenge(library, userId, sessionTokens));
      return { error: "two_factor_required" };
    }
    if (flow.mode === "token") {
      const kept: Redeemable = { userId, origin: new URL(flow.callbackURL).origin };
      return { code: await once.add("oauth-code", kept, codeLifetime) };
    }
    const token = await accounts.openSession(userId, about(request));
    if (token === null) return { error: "sign_up_refused" };
    setSession(parts, response, await sessions.opened(token));
    return { oauth: "success" };
  }

  // The session begins here and not at the callback, so an unused code leaves no session.
  on(router, "post", "/oauth/exchange", async (request) => {
    requireMode(modes, "token");
    const { code } = ((await jsonBody(request)) ?? {}) as { code?: unknown };
    if (typeof code !== "string") {
      const issues = [{ path: ["code"], message: "The one-time code must be a text." }];
      throw new SvcError("VALIDATION_FAILED", undefined, { issues });
    }
    const kept = await parts.attempts.redeem(about(request), async () => {
      const kept = await once.take<Redeemable>("oauth-code", code);
      if (!kept) throw spent();
      return kept;
    });
    // The code is already used up, on purpose: a page that obtained a foreign code must not try again.
    if (request.headers.origin !== kept.origin) {
      parts.social.log.warn("a one-time code was redeemed by another origin than the one it was issued for");
      throw new SvcError("FORBIDDEN", "This code belongs to another origin, and cannot be used any more.", {
        hint: "Redeem it from the page of callbackURL; a server sends that page's origin in Origin.",
      });
    }
    if (await hasSecondFactor(library, kept.userId)) throw secondFactorRequired();
    const token = await accounts.openSession(kept.userId, about(request));
    if (token === null) throw spent();
    return tokenAnswer(parts, await sessions.opened(token));
  });
}

/** @throws SvcError NOT_FOUND for other providers, and for those without their variables */
function providerNamed(name = "", providers: Providers): Provider {
  const provider = providers.get(name);
  if (provider) return provider;
  if (provider === undefined) {
    const known = [...providers.keys()].join(" or ");
    throw new SvcError("NOT_FOUND", "This sign-in provider does not exist.", { hint: `Send provider=${known}.` });
  }
  const [id, secret] = variablesOf(name);
  throw new SvcError("NOT_FOUND", `Sign-in with ${labelOf(name)} is not set up.`, {
    hint: `Set ${id} and ${secret} in the environment of the service.`,
  });
}

/**
 * The same request at our own origin, when it arrived at another of our host names. The provider redirects to the own
 * origin, and the cookie that is set now must be sent there.
 */
function ownAddress({ origins }: AuthParts, request: Request): URL | null {
  const { host } = request.headers;
  const { own, all } = origins;
  const isOther = host !== new URL(own).host && all.some((origin) => new URL(origin).host === host);
  return isOther ? new URL(`/api/auth${startPath}?${rawQuery(request)}`, own) : null;
}

const spent = () =>
  new SvcError("UNAUTHORIZED", "This code is unknown, used or expired.", { hint: "Begin the sign-in again." });
