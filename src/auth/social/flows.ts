/**
 * Pending flows: stores data between the redirect to the provider and the callback, and checks that the same browser
 * returns.
 * Next hop: `../one-time-values.ts` for the state, `flow-cookie.ts` for the browser.
 */
import { randomBytes } from "node:crypto";
import { SvcError } from "../../kit/svc-error.ts";
import type { OneTimeTokens } from "../mail/one-time-tokens.ts";
import { digest } from "./digest.ts";
import { FlowCookie } from "./flow-cookie.ts";
import type { FlowChecks } from "./provider.ts";
import type { ReturnMode } from "./return-mode.ts";

export interface Flow extends FlowChecks {
  /** Absolute, on a listed origin. */
  callbackURL: string;
  mode: ReturnMode;
}

/** In seconds: a person types a password and looks for a phone. */
const lifetime = 10 * 60;

export class Flows {
  readonly #once: OneTimeTokens;
  readonly #cookie: FlowCookie;

  /** @param secure whether the service's own origin is https */
  constructor(once: OneTimeTokens, secure: boolean) {
    this.#once = once;
    this.#cookie = new FlowCookie(secure);
  }

  /** @returns the state for the provider, and the `Set-Cookie` for the browser */
  async begin(flow: Flow): Promise<{ state: string; cookie: string }> {
    const secret = randomBytes(32).toString("base64url");
    const state = await this.#once.add("oauth-state", { ...flow, browser: digest(secret) }, lifetime);
    return { state, cookie: this.#cookie.set(state, secret, lifetime) };
  }

  /**
   * Resumes a flow, once: the state is used up even if the call fails.
   *
   * @param cookies the header
   * @throws SvcError BAD_REQUEST when the state is unknown, used, expired or from another browser
   */
  async resume(state: string | undefined, cookies: string | undefined): Promise<Flow> {
    const kept = await this.#once.take<Flow & { browser: string }>("oauth-state", state);
    const secret = kept && state !== undefined ? this.#cookie.read(cookies, state) : null;
    if (kept && secret !== null && digest(secret) === kept.browser) return kept;
    throw new SvcError("BAD_REQUEST", "This sign-in was not begun in this browser, took too long, or is over.", {
      hint: "Begin again in the application. Cookies have to be allowed.",
    });
  }

  /** `Set-Cookie` that removes what `begin` set. */
  end(state: string): string {
    return this.#cookie.clear(state);
  }
}
