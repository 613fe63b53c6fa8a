/**
 * The session cookie of cookie mode (RFC 6265bis): the signed session token, out of reach of scripts.
 * Next hop: `authenticate.ts` reads it, `src/auth/routes/cookie-style.ts` sets it.
 */

const base = "authlib.session_token";

export class SessionCookie {
  /** On https the name has the prefix `__Secure-`; browsers then reject it from http. */
  readonly name: string;
  readonly #attributes: string;

  /** @param secure whether the service's own origin is https */
  constructor(secure: boolean) {
    this.name = secure ? `__Secure-${base}` : base;
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  }

  /** Its value in a `Cookie` header; null when it is missing or cannot be trusted. */
  read(header: string | undefined): string | null {
    const [value, ...others] = this.all(header);
    return value === undefined || others.length > 0 ? null : value || null;
  }

  /**
   * Its different values. More than one means that a neighbouring host has set a cookie of the same name. A value that
   * we never set is "".
   */
  all(header: string | undefined): string[] {
    return differentValues(header, this.name).map((value) => (value !== null && isSpelledAsSet(value) ? value : ""));
  }

  /** `Set-Cookie` for a session that lasts until then. Whole seconds, rounded up: seven days are 604800. */
  set(signedToken: string, expiresAt: Date): string {
    const seconds = Math.max(0, Math.ceil((expiresAt.getTime() - Date.now()) / 1000));
    return `${this.name}=${encodeURIComponent(signedToken)}; Max-Age=${seconds}; ${this.#attributes}`;
  }

  /** `Set-Cookie` that removes it. */
  clear(): string {
    return `${this.name}=; Max-Age=0; ${this.#attributes}`;
  }
}

/**
 * The value of a cookie in a `Cookie` header. Null for two different values: one of them came from a neighbouring host,
 * and we cannot tell which.
 */
export function cookieValue(header: string | undefined, name: string): string | null {
  const [value, ...others] = differentValues(header, name);
  return value === undefined || others.length > 0 ? null : value;
}

const differentValues = (header: string | undefined, name: string): (string | null)[] => [
  ...new Set(
    (header?.includes(name) ? pairsOf(header) : []).flatMap(([own, value]) =>
      own === name ? [decodeCookie(value)] : [],
    ),
  ),
];

/**
 * The pairs of a `Cookie` header. Browsers put one space between two pairs. Other blanks belong to a name: trimming
 * them would accept a name that the browser's prefix check has not seen.
 */
export const pairsOf = (header = ""): [name: string, value: string][] =>
  header.split(";").flatMap((pair) => {
    // Not one regular expression: on a header full of spaces it would take quadratic time.
    const text = pair.replace(/^ +/, "");
    const end = text.indexOf("=");
    return end > 0 ? [[text.slice(0, end), text.slice(end + 1)]] : [];
  });

/**
 * Decodes a value. The base64 of a signature arrives percent-encoded, or plain from a server that forwards the cookie.
 *
 * @returns null for any other spelling, which we never set
 */
export function decodeCookie(value: string): string | null {
  try {
    const decoded = decodeURIComponent(value);
    return value === decoded || value === encodeURIComponent(decoded) ? decoded : null;
  } catch {
    return null;
  }
}

/** Base64 of 32 bytes has two unused bits, so a signature has four spellings. Only the one that we set is accepted. */
function isSpelledAsSet(value: string): boolean {
  const signature = value.slice(value.indexOf(".") + 1);
  return Buffer.from(signature, "base64").toString("base64") === signature;
}
