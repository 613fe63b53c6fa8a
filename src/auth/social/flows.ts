/**
 * Pending flows: stores data between the redirect to the provider and the callback. A cookie with its own secret binds
 * a flow to the browser that began it. A state from another browser is invalid, so nobody can be signed in to a foreign
 * account (login CSRF).
 * Next hop: `../mail/one-time-tokens.ts` keeps the state.
 */
import { createHash, randomBytes } from "node:crypto";
import { SvcError } from "../../kit/svc-error.ts";
import type { OneTimeTokens } from "../mail/one-time-tokens.ts";
import { cookieValue } from "../sessions/session-cookie.ts";
import type { FlowChecks } from "./provider.ts";
import type { ReturnMode } from "./return-mode.ts";

export interface Flow extends FlowChecks {
  /** The provider's id: another provider's callback must not answer for it. */
  provider: string;
  /** Absolute, on a listed origin. */
  callbackURL: string;
  mode: ReturnMode;
}

/** In seconds: a person types a password and looks for a phone. */
const lifetime = 10 * 60;

const digest = (secret: string): string => createHash("sha256").update(secret).digest("base64url");

export class Flows {
  readonly #once: OneTimeTokens;
  readonly #prefix: string;
  readonly #attributes: string;

  /** @param secure whether the service's own origin is https */
  constructor(once: OneTimeTokens, secure: boolean) {
    this.#once = once;
    this.#prefix = `${secure ? "__Secure-" : ""}authlib.oauth_state`;
    // Lax: the cookie must be sent when the provider redirects back. Only the callback needs it.
    this.#attributes = `Path=/api/auth/callback; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  }

  /** @returns the state for the provider, and the `Set-Cookie` for the browser */
  async begin(flow: Flow): Promise<{ state: string; cookie: string }> {
    const secret = randomBytes(32).toString("base64url");
    const state = await this.#once.add("oauth-state", { ...flow, browser: digest(secret) }, lifetime);
    return { state, cookie: this.#cookie(state, secret, lifetime) };
  }

  /**
   * Resumes a flow, once: the state is used up even if the call fails.
   *
   * @param provider whose callback it is
   * @param cookies the header. Two different cookies of one name count as none: one came from a neighbouring host
   * @throws SvcError BAD_REQUEST when the state is unknown, used, expired from another browser, or was sent to another provider
   */
  async resume(provider: string, state: string | undefined, cookies: string | undefined): Promise<Flow> {
    const kept = await this.#once.take<Flow & { browser: string }>("oauth-state", state);
    const secret = kept && state !== undefined ? cookieValue(cookies, this.#name(state)) : null;
    const isOfBrowser = kept && secret !== null && digest(secret) === kept.browser;
    // A process of the version before, which knew Google alone, may have begun it.
    if (isOfBrowser && (kept.provider ?? "google") === provider) return kept;
    throw new SvcError("BAD_REQUEST", "This sign-in was not begun in this browser, took too long, or is over.", {
      hint: "Begin again in the application. Cookies have to be allowed.",
    });
  }

  /** `Set-Cookie` that removes what `begin` set. */
  end(state: string): string {
    return this.#cookie(state, "", 0);
  }

  #cookie(state: string, value: string, seconds: number): string {
    return `${this.#name(state)}=${value}; Max-Age=${seconds}; ${this.#attributes}`;
  }

  /**
   * One cookie per flow: with a shared one, the last opened tab would break the others. The name identifies the flow
   * without revealing its state.
   */
  #name(state: string): string {
    return `${this.#prefix}.${digest(state).slice(0, 16)}`;
  }
}
