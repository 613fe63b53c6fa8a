/**
 * Grants: signed permissions to watch a query for some minutes. They are not stored, so every process accepts a grant
 * that another one issued.
 * Next hop: `src/server/grant-endpoint.ts` issues them, `socket.ts` accepts them.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** The content of a grant. Its holder can read it, and knows all of it already. */
export interface Grant {
  /** The query's key, `tasks.list::{…}`. */
  query: string;
  /** The key that all subscribers with the same events share. */
  subscriptionKey: string;
  topics: string[];
  /** The user whose sockets may use it; null for anonymous sockets. */
  user: string | null;
  /** In milliseconds since 1970. */
  expiresAt: number;
}

/** In milliseconds: as long as a JWT. A client that continues to watch requests another, and is authenticated again. */
export const grantLifetime = 5 * 60_000;

export class Grants {
  readonly #secrets: readonly string[];

  /** @param secrets newest first: the first signs, all verify */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  sign(grant: Grant): string {
    const text = Buffer.from(JSON.stringify(grant)).toString("base64url");
    return `${text}.${mac(this.#secrets[0] ?? "", text).toString("base64url")}`;
  }

  /** @returns null if the signature is invalid or the grant has expired */
  open(token: unknown): Grant | null {
    if (typeof token !== "string") return null;
    const [text = "", signature = "", ...more] = token.split(".");
    const given = Buffer.from(signature, "base64url");
    const isOurs = (secret: string) => given.length === macLength && timingSafeEqual(mac(secret, text), given);
    if (more.length > 0 || !this.#secrets.some(isOurs)) return null;
    const grant = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as Grant;
    return grant.expiresAt > Date.now() ? grant : null;
  }
}

const macLength = 32;

/** Other texts that the secret signs have other prefixes. */
const mac = (secret: string, text: string): Buffer =>
  createHmac("sha256", secret).update(`svc realtime grant\n${text}`).digest();
