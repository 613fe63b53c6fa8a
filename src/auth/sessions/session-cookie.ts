/**
 * The session cookie of cookie mode (RFC 6265bis): the signed session token, out of reach of scripts.
 * Next hop: `authenticate.ts` reads it, `src/auth/routes/cookie-style.ts` sets it.
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

  /** Its value in a `Cookie` header; null when there is none, or none to be trusted. */
  read(header: string | undefined): string | null {
    const [value, ...others] = this.all(header);
    return value === undefined || others.length > 0 ? null : value || null;
  }

  /**
   * Its different values: more than one means that a neighbouring host has set a cookie of the name too. A value that
   * we never set is "".
   */
  all(header: string | undefined): string[] {
    return differentValues(header, this.name).map((value) => (value !== null && isSpelledAsSet(value) ? value : ""));
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
  const [value, ...others] = differentValues(header, name);
  return value === undefined || others.length > 0 ? null : value;
}

function differentValues(header: string | undefined, name: string): (string | null)[] {
  if (header === undefined || !header.includes(name)) return [];
  const start = `${name}=`;
  // Browsers put one space between two cookies. Other blanks are part of a name: taken away, they would let a name
  // through that the browser's own check of prefixes has not seen.
  const pairs = header.split(";").map((pair) => pair.replace(/^ +/, ""));
  return [
    ...new Set(pairs.filter((pair) => pair.startsWith(start)).map((pair) => decodeCookie(pair.slice(start.length)))),
  ];
}

/**
 * The base64 of a signature has characters that travel percent-encoded, or, from a server that forwards the cookie, as
 * they are.
 *
 * @returns null for any other spelling, which is no cookie of ours
 */
export function decodeCookie(value: string): string | null {
  try {
    const decoded = decodeURIComponent(value);
    return value === decoded || value === encodeURIComponent(decoded) ? decoded : null;
  } catch {
    return null;
  }
}

/** Base64 of 32 bytes has two bits to spare: of the four spellings of a signature, one is ours. */
function isSpelledAsSet(value: string): boolean {
  const signature = value.slice(value.indexOf(".") + 1);
  return Buffer.from(signature, "base64").toString("base64") === signature;
}
