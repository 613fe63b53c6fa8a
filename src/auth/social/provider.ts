/**
 * The OpenID provider: builds the redirect and checks the callback. Authorization code, PKCE (S256), nonce. The ID
 * token is checked completely: signature, `iss`, `aud`, `exp`, nonce.
 * Next hop: openid-client; `profile.ts` reads the claims.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  randomNonce,
  randomPKCECodeVerifier,
} from "openid-client";
import type { Logger } from "pino";
import { limitAnswer } from "../../kit/limit-answer.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { describeFailure, type Failure, failureOf } from "./failure.ts";
import { type Profile, readProfile } from "./profile.ts";

export interface ProviderSettings {
  clientId: string;
  clientSecret: string;
  /** For example https://accounts.google.com; its endpoints are discovered. */
  issuer: string;
}

/** Secrets of a flow, stored until the browser returns. */
export interface FlowChecks {
  /** PKCE: without it the provider's code cannot be used. */
  verifier: string;
  /** Must be in the ID token, so a token of another flow is rejected. */
  nonce: string;
}

/** In seconds: timeout of each request to the provider. */
const timeout = 10;
/**
 * In milliseconds: how long the discovered endpoints are cached. openid-client caches the provider's keys (five
 * minutes).
 */
const lifetime = 60 * 60 * 1000;
/** In bytes: real answers have a few thousand. */
const largestAnswer = 256 * 1024;

const fetchLimited: CustomFetch = async (url, init) =>
  limitAnswer(await fetch(url, init as RequestInit), largestAnswer, () => new Error("the answer is too large"));

export class Provider {
  readonly redirectUri: string;
  readonly #settings: ProviderSettings;
  readonly #log: Logger;
  #known: { configuration: Configuration; until: number } | undefined;
  #asking: Promise<Configuration> | undefined;

  /** @param own the service's own origin */
  constructor(settings: ProviderSettings, own: string, log: Logger) {
    this.#settings = settings;
    this.redirectUri = `${own}/api/auth/callback/google`;
    this.#log = log.child({ provider: settings.issuer });
  }

  /**
   * Creates the secrets of a flow and the address that begins it.
   *
   * @throws SvcError UNAVAILABLE when the provider does not answer
   */
  async begin(): Promise<{ checks: FlowChecks; url: (state: string) => URL }> {
    const configuration = await this.#discover().catch((cause) => {
      throw new SvcError("UNAVAILABLE", "Google cannot be reached at the moment.", { retryAfter: 5, cause });
    });
    const checks = { verifier: randomPKCECodeVerifier(), nonce: randomNonce() };
    const challenge = await calculatePKCECodeChallenge(checks.verifier);
    const url = (state: string) =>
      buildAuthorizationUrl(configuration, {
        redirect_uri: this.redirectUri,
        scope: "openid email profile",
        code_challenge: challenge,
        code_challenge_method: "S256",
        nonce: checks.nonce,
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
      const answer = await authorizationCodeGrant(await this.#discover(), url, {
        expectedState: state,
        expectedNonce: checks.nonce,
        pkceCodeVerifier: checks.verifier,
      });
      // The provider's access token is dropped here: nothing uses it, so it cannot be stolen.
      const profile = readProfile(answer.claims() ?? {});
      if (profile) return { profile };
      this.#log.warn("the provider's ID token does not identify a user");
      return { failure: "provider_error" };
    } catch (error) {
      const failure = failureOf(error);
      const level = failure === "access_denied" ? "info" : "warn";
      this.#log[level]({ failure, ...describeFailure(error) }, "sign-in at the provider failed");
      return { failure };
    }
  }

  async #discover(): Promise<Configuration> {
    if (this.#known && this.#known.until > Date.now()) return this.#known.configuration;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const server = new URL(issuer);
    try {
      const configuration = await discovery(
        server,
        clientId,
        { client_secret: clientSecret, id_token_signed_response_alg: "RS256" },
        undefined,
        {
          timeout,
          [customFetch]: fetchLimited,
          execute: [
            // Without it the ID token's signature would not be verified, because the answer came over TLS.
            enableNonRepudiationChecks,
            // The configuration allows http on this machine only.
            ...(server.protocol === "http:" ? [allowInsecureRequests] : []),
          ],
        },
      );
      this.#known = { configuration, until: Date.now() + lifetime };
      return configuration;
    } catch (error) {
      this.#log.error(describeFailure(error), "the provider's endpoints could not be discovered");
      if (this.#known) return this.#known.configuration; // use the cached endpoints, although expired
      throw error;
    }
  }
}
