/**
 * The session token in the form that clients hold: the library's token, a dot, and an HMAC-SHA-256 of it in base64.
 * This is the value of the library's own session cookie. Because of the signature, a copy of auth.session gives no
 * access, and an invented token is rejected without the database.
 * Next hop: `session-store.ts` looks the bare token up.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";

const shape = /^([A-Za-z0-9]{32})\.([A-Za-z0-9+/]{43}=)$/;

export class SessionTokens {
  readonly #newest: KeyObject;
  readonly #keys: readonly KeyObject[];

  /**
   * @param secrets newest first: the first signs, all verify, so that a new secret signs nobody out
   * @throws TypeError when there is none
   */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map((secret) => createSecretKey(secret, "utf8"));
    const [newest] = this.#keys;
    if (!newest) throw new TypeError("Authentication needs at least one secret.");
    this.#newest = newest;
  }

  sign(token: string): string {
    return `${token}.${mac(this.#newest, token).toString("base64")}`;
  }

  /**
   * The same token signed with the newest secret, for a client whose token has an older signature; null when it is
   * current. A client that takes it stays signed in when the older secret is removed.
   */
  renew(signed: string): string | null {
    const token = this.open(signed);
    const renewed = token === null ? signed : this.sign(token);
    return renewed === signed ? null : renewed;
  }

  /** @returns the bare token, or null when it was not signed here */
  open(signed: string): string | null {
    const [, token, signature] = shape.exec(signed) ?? [];
    if (token === undefined || signature === undefined) return null;
    const given = Buffer.from(signature, "base64");
    return this.#keys.some((key) => timingSafeEqual(mac(key, token), given)) ? token : null;
  }
}

const mac = (key: KeyObject, token: string): Buffer => createHmac("sha256", key).update(token).digest();
