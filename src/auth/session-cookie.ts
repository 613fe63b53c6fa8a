/**
 * The session cookie of cookie mode (RFC 6265bis): the signed session token, out of reach of scripts.
 * Next hop: `authenticate.ts` reads it, `routes/cookie-style.ts` sets it.
 */

const base = "authlib.session_token";

export class SessionCookie {
  /** On https the name says so, and browsers then refuse it from http (`__Secure-`). */
  readonly name: string;
  readonly #attributes: string;

  /** @param secure whether the service's own origin is https */
  constructor(secure: boolean) {
    this.name = secure ? `__Secure-${base}` : base;
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  }

  /** Its value in a `Cookie` header, as `cookieValue` reads it. */
  read(header: string | undefined): string | null {
    return cookieValue(header, this.name);
  }

  /** `Set-Cookie` for a session that lasts until then. */
  set(signedToken: string, expiresAt: Date): string {
    const seconds = Math.max(0, Math.floor((expiresAt.getTime() - Date.now()) / 1000));
    return `${this.name}=${encodeURIComponent(signedToken)}; Max-Age=${seconds}; ${this.#attributes}`;
  }

  /** `Set-Cookie` that removes it. */
  clear(): string {
    return `${this.name}=; Max-Age=0; ${this.#attributes}`;
  }
}

/**
 * The value of a cookie in a `Cookie` header. Two different values of the name are none: one of them came from a
 * neighbouring host, and nothing tells which.
 */
export function cookieValue(header: string | undefined, name: string): string | null {
  if (header === undefined || !header.includes(name)) return null;
  let found: string | null = null;
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    const value = decode(pair.slice(equals + 1).trim());
    if (found !== null && found !== value) return null;
    found = value;
  }
  return found;
}

/** The base64 of a signature has characters that travel percent-encoded. What cannot be decoded is no cookie of ours. */
function decode(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
