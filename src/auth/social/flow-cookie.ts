/**
 * Binds a flow to the browser that began it, by a cookie with its own secret. A state from another browser is invalid,
 * so nobody can be signed in to a foreign account (login CSRF).
 * Next hop: `flows.ts`.
 */
import { cookieValue } from "../sessions/session-cookie.ts";
import { digest } from "./digest.ts";

export class FlowCookie {
  readonly #prefix: string;
  readonly #attributes: string;

  /** @param secure whether the service's own origin is https */
  constructor(secure: boolean) {
    this.#prefix = `${secure ? "__Secure-" : ""}authlib.oauth_state`;
    // Lax: the cookie must be sent when the provider redirects back. Only the callback needs it.
    this.#attributes = `Path=/api/auth/callback; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  }

  /**
   * One cookie per flow: with a shared one, the last opened tab would break the others. The name identifies the flow
   * without revealing its state.
   */
  #name(state: string): string {
    return `${this.#prefix}.${digest(state).slice(0, 16)}`;
  }

  /** @returns null also when two cookies of that name differ: one of them came from a neighbouring host */
  read(header: string | undefined, state: string): string | null {
    return cookieValue(header, this.#name(state));
  }

  /** @param seconds how long the flow may take */
  set(state: string, secret: string, seconds: number): string {
    return `${this.#name(state)}=${secret}; Max-Age=${seconds}; ${this.#attributes}`;
  }

  /** `Set-Cookie` that removes it. */
  clear(state: string): string {
    return `${this.#name(state)}=; Max-Age=0; ${this.#attributes}`;
  }
}
