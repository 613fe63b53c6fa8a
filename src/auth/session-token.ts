/**
 * The session token as clients hold it: the library's token, a dot, and an HMAC-SHA-256 of it in base64 — the value of
 * the library's own session cookie. The signature means that a copy of auth.session lets nobody in, and that a made-up
 * token is refused without asking the database.
 * Next hop: `session-store.ts` looks the bare token up.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

const shape = /^([A-Za-z0-9]{32})\.([A-Za-z0-9+/]{43}=)$/;

export class SessionTokens {
  readonly #secrets: readonly string[];

  /** @param secrets newest first: the first signs, all verify, so that a new secret signs nobody out */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  sign(token: string): string {
    return `${token}.${mac(this.#secrets[0] ?? "", token).toString("base64")}`;
  }

  /** @returns the bare token, or null when it was not signed here */
  open(signed: string): string | null {
    const [, token, signature] = shape.exec(signed) ?? [];
    if (token === undefined || signature === undefined) return null;
    const given = Buffer.from(signature, "base64");
    return this.#secrets.some((secret) => timingSafeEqual(mac(secret, token), given)) ? token : null;
  }
}

const mac = (secret: string, token: string): Buffer => createHmac("sha256", secret).update(token).digest();
