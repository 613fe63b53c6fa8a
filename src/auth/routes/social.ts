/**
 * Social sign-in: to the provider, back from it, and, in token mode, the one-time code for a session.
 * Next hop: `../social/provider.ts` and `../social/people.ts`.
 */
import type { Request, Response, Router } from "express";
import { exchangeOf } from "../../http/exchange.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { challenge, hasSecondFactor, isTrusted, secondFactorRequired } from "../passwords/second-factor.ts";
import type { Flow } from "../social/flows.ts";
import type { Provider } from "../social/provider.ts";
import { chooseMode, type Result, requireMode, withResult } from "../social/return-mode.ts";
import { type AuthParts, about, jsonBody, on, setSession, tokenAnswer } from "./endpoint.ts";

/** What a one-time code stands for. */
interface Redeemable {
  userId: string;
  /** Of the page that got the code; no other page may redeem it. */
  origin: string;
}

/** In seconds: how long a page has to redeem its code. */
const codeLifetime = 60;

const startPath = "/sign-in/social/redirect";

export function social(router: Router, parts: AuthParts): void {
  const { library, once, origins, sessionTokens } = parts;
  const { flows, google, modes, people } = parts.social;

  on(router, "get", startPath, async (request, response) => {
    keepQuiet(response);
    const query = new URLSearchParams(rawQuery(request));
    const provider = providerNamed(single(query, "provider"), google);
    const mode = chooseMode(modes, single(query, "oauthReturnMode"));
    const callbackURL = landing(parts, single(query, "callbackURL"));
    const elsewhere = ownAddress(parts, request);
    if (elsewhere) return redirect(response, elsewhere);

    const { checks, url } = await provider.begin();
    const { state, cookie } = await flows.begin({ ...checks, callbackURL, mode });
    response.appendHeader("set-cookie", cookie);
    return redirect(response, url(state));
  });

  on(router, "get", "/callback/google", async (request, response) => {
    keepQuiet(response);
    const provider = providerNamed("google", google);
    const query = rawQuery(request);
    const state = single(new URLSearchParams(query), "state");
    const flow = await flows.resume(state, request.headers.cookie);
    if (state === undefined || !origins.allows(new URL(flow.callbackURL).origin)) throw new SvcError("BAD_REQUEST");

    const result = await complete(provider, query, state, flow, request, response).catch((err): Result => {
      parts.social.log.error({ err }, "social sign-in failed");
      return { error: "internal_error" };
    });
    response.appendHeader("set-cookie", flows.end(state));
    return redirect(response, withResult(flow.callbackURL, result));
  });

  /** From the provider's answer to what the application is told. */
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
    const found = await people.find(answer.profile);
    if ("failure" in found) return { error: found.failure };
    const { userId } = found;
    const isSpared = flow.mode === "cookie" && (await isTrusted(library, userId, request.headers.cookie));
    if (!isSpared && (await hasSecondFactor(library, userId))) {
      // A browser goes on as after its password. A token has nothing that could stand for half a sign-in.
      if (flow.mode === "cookie") {
        response.appendHeader("set-cookie", await challenge(library, userId, sessionTokens));
      }
      return { error: "two_factor_required" };
    }
    if (flow.mode === "token") {
      const kept: Redeemable = { userId, origin: new URL(flow.callbackURL).origin };
      return { code: await once.add("oauth-code", kept, codeLifetime) };
    }
    const token = await people.openSession(userId, about(request));
    if (token === null) return { error: "sign_up_refused" };
    await setSession(parts, response, token);
    return { oauth: "success" };
  }

  // The session begins here and not at the callback: a code that nobody redeems leaves nothing behind.
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
    // The code is gone now, on purpose: one that came into the hands of another page is not to be had by a second try.
    if (request.headers.origin !== kept.origin) {
      parts.social.log.warn("a one-time code was brought by another origin than the one it was made for");
      throw new SvcError("FORBIDDEN", "This code belongs to another origin, and cannot be used any more.", {
        hint: "Redeem it from the page of callbackURL; a server sends that page's origin in Origin.",
      });
    }
    if (await hasSecondFactor(library, kept.userId)) throw secondFactorRequired();
    const token = await people.openSession(kept.userId, about(request));
    if (token === null) throw spent();
    return tokenAnswer(parts, token);
  });
}

/** Addresses with states and codes in them are not to be sent to others as Referer, whatever the answer is. */
function keepQuiet(response: Response): void {
  exchangeOf(response).headers["referrer-policy"] = "no-referrer";
}

/** @throws SvcError NOT_FOUND for other providers, and for Google without its variables */
function providerNamed(name: string | undefined, google: Provider | null): Provider {
  if (name !== "google") {
    throw new SvcError("NOT_FOUND", "There is no such sign-in provider.", { hint: "Send provider=google." });
  }
  if (google) return google;
  throw new SvcError("NOT_FOUND", "Sign-in with Google is not set up.", {
    hint: "Set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET in the environment of the service.",
  });
}

/** @throws SvcError BAD_REQUEST for what is not on the list; the browser is never sent there, not even with an error */
function landing({ origins }: AuthParts, callbackURL: string | undefined): string {
  const url = origins.destination(callbackURL ?? "/");
  if (url) return url.href;
  throw new SvcError("BAD_REQUEST", "callbackURL leads to an origin that is not listed, or is not a plain URL.", {
    hint: "Send a path, or an absolute URL on an origin of frontendOrigins in svc.config.ts.",
  });
}

/**
 * The same request at our own origin, when the browser asks at another of our names. The provider sends it back to the
 * own origin, and the cookie that is set now has to be there then.
 */
function ownAddress({ origins }: AuthParts, request: Request): URL | null {
  const { host } = request.headers;
  const { own, all } = origins;
  const isOther = host !== new URL(own).host && all.some((origin) => new URL(origin).host === host);
  return isOther ? new URL(`/api/auth${startPath}?${rawQuery(request)}`, own) : null;
}

/** As it came: the parser is not Express's, whose settings are the application's. */
function rawQuery({ originalUrl }: Request): string {
  const start = originalUrl.indexOf("?");
  return start < 0 ? "" : originalUrl.slice(start + 1);
}

/** @throws SvcError BAD_REQUEST when it is given twice: which of the two others look at, nobody knows */
function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw new SvcError("BAD_REQUEST", `${name} is given more than once.`);
  return values[0];
}

/** By hand, since Express would repeat the address in a body. */
function redirect(response: Response, url: URL): undefined {
  response.writeHead(302, { ...exchangeOf(response).headers, location: url.href, "cache-control": "no-store" });
  response.end();
}

const spent = () =>
  new SvcError("UNAUTHORIZED", "This code is unknown, used or expired.", { hint: "Begin the sign-in again." });
