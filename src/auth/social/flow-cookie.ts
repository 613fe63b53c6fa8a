/**
 * Binds a flow to the browser that began it: a cookie with a secret of its own. A state that somebody else's browser
 * brings is none, so nobody can be signed in to an account that is not theirs (login CSRF).
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
    // Lax, since it has to come along when the provider sends the browser back. Nobody but the callback needs it.
    this.#attributes = `Path=/api/auth/callback; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  }

  /**
   * A cookie for every flow: with one for all, the tab that was opened last would break the others. The name tells
   * which flow without telling its state.
   */
  #name(state: string): string {
    return `${this.#prefix}.${digest(state).slice(0, 16)}`;
  }

  /** @returns null also when two cookies of the name differ: one of them came from a neighbouring host */
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
