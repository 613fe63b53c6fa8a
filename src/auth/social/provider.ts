/**
 * A provider of social sign-in: builds the redirect, and exchanges the code of the callback. Authorization code with PKCE (S256).
 * Next hop: openid-client; `openid.ts` and `github.ts` say who the user is.
 */
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
} from "openid-client";
import type { Logger } from "pino";
import { limitAnswer } from "../../kit/limit-answer.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { describeFailure, type Failure, failureOf } from "./failure.ts";
import { labelOf } from "./names.ts";
import type { Profile } from "./profile.ts";

export interface ProviderSettings {
  clientId: string;
  clientSecret: string;
  /** For example https://accounts.google.com. */
  issuer: string;
}

/** Secrets of a flow, stored until the browser returns. */
export interface FlowChecks {
  /** PKCE: without it the provider's code cannot be used. */
  verifier: string;
  /** Must be in the ID token, so a token of another flow is rejected. */
  nonce: string;
}

export type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

/** In seconds: timeout of each request to the provider. */
export const timeout = 10;
/** In bytes: real answers have a few thousand. */
const largestAnswer = 256 * 1024;

export const fetchLimited: CustomFetch = async (url, init) =>
  limitAnswer(await fetch(url, init as RequestInit), largestAnswer, () => new Error("the answer is too large"));

export abstract class Provider {
  /** In paths, and stored with each account. */
  readonly id: string;
  readonly redirectUri: string;
  protected readonly log: Logger;
  /** Further parameters of the redirect. */
  protected abstract readonly parameters: { scope: string; response_mode?: string };
  /** Whether there is an ID token. */
  protected abstract readonly isOpenId: boolean;

  /** @param own the service's own origin */
  constructor(id: string, own: string, log: Logger) {
    this.id = id;
    this.redirectUri = `${own}/api/auth/callback/${id}`;
    this.log = log.child({ provider: id });
  }

  /** The provider's endpoints, and our client. */
  protected abstract configuration(): Promise<Configuration>;

  /**
   * @param query of the callback
   * @returns null when the answer does not identify a user
   */
  protected abstract read(
    configuration: Configuration,
    tokens: Tokens,
    query: URLSearchParams,
  ): Promise<Profile | null>;

  /**
   * Creates the secrets of a flow and the address that begins it.
   *
   * @throws SvcError UNAVAILABLE when the provider does not answer
   */
  async begin(): Promise<{ checks: FlowChecks; url: (state: string) => URL }> {
    const configuration = await this.configuration().catch((cause) => {
      throw new SvcError("UNAVAILABLE", `${labelOf(this.id)} cannot be reached at the moment.`, {
        retryAfter: 5,
        cause,
      });
    });
    const checks = { verifier: randomPKCECodeVerifier(), nonce: randomNonce() };
    const challenge = await calculatePKCECodeChallenge(checks.verifier);
    const url = (state: string) =>
      buildAuthorizationUrl(configuration, {
        redirect_uri: this.redirectUri,
        ...this.parameters,
        code_challenge: challenge,
        code_challenge_method: "S256",
        ...(this.isOpenId && { nonce: checks.nonce }),
        state,
      });
    return { checks, url };
  }

  /**
   * Checks the provider's callback and exchanges its code for the profile.
   *
   * @param query of the request to the redirect URI, as sent
   */
  async finish(query: string, state: string, checks: FlowChecks): Promise<{ profile: Profile } | { failure: Failure }> {
    const url = new URL(this.redirectUri);
    url.search = query;
    try {
      const configuration = await this.configuration();
      const tokens = await authorizationCodeGrant(configuration, url, {
        expectedState: state,
        pkceCodeVerifier: checks.verifier,
        ...(this.isOpenId && { expectedNonce: checks.nonce }),
      });
      // The provider's tokens are dropped here: nothing uses them later, so they cannot be stolen.
      const profile = await this.read(configuration, tokens, url.searchParams);
      if (profile) return { profile };
      this.log.warn("the provider's answer does not identify a user");
      return { failure: "provider_error" };
    } catch (error) {
      const failure = failureOf(error);
      const level = failure === "access_denied" ? "info" : "warn";
      this.log[level]({ failure, ...describeFailure(error) }, "sign-in at the provider failed");
      return { failure };
    }
  }
}
