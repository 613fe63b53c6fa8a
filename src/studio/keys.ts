/** The tokens of Studio's addresses and the secrets they are redeemed for. In memory only, as hashes. */
import { createHash, randomBytes } from "node:crypto";

const hash = (text: string) => createHash("sha256").update(text).digest("base64url");

/** A secret: 256 random bits, of 43 characters. */
export const random = (): string => randomBytes(32).toString("base64url");

/** The hash of the secret that the header has; null without one. */
function hashOf(authorization: string | undefined): string | null {
  const [scheme, secret = ""] = (authorization ?? "").split(" ");
  return scheme === "Bearer" && secret !== "" ? hash(secret) : null;
}

/** Whether the header has this secret. @param secret null: none has it */
export const carries = (authorization: string | undefined, secret: string | null): boolean =>
  secret !== null && hashOf(authorization) === hash(secret);

/** Secrets at most; the oldest one ends. */
const most = 20;

/** What programs on this machine may ask for: `svc mcp` alone, for what only the process of `svc dev` knows. */
const ofPrograms = ["requests", "trace"];

export class Keys {
  #token = "";
  /** The secret of programs on this machine, which no tab replaces. */
  #program = "";
  readonly #secrets = new Set<string>();

  /** Makes the next token; one that was not redeemed ends. */
  next(): string {
    const token = random();
    this.#token = hash(token);
    return token;
  }

  /** @returns a secret, or null for a token that is wrong or was redeemed */
  redeem(token: string): string | null {
    if (hash(token) !== this.#token) return null;
    this.#token = "";
    const secret = random();
    const [oldest] = this.#secrets;
    if (this.#secrets.size >= most && oldest) this.#secrets.delete(oldest);
    this.#secrets.add(hash(secret));
    return secret;
  }

  /** Makes the secret of programs; an earlier one ends. */
  forPrograms(): string {
    const secret = random();
    this.#program = hash(secret);
    return secret;
  }

  /** @param authorization the header's value @param name what is asked for */
  opens(authorization: string | undefined, name: string): boolean {
    const given = hashOf(authorization);
    if (given === null) return false;
    return this.#secrets.has(given) || (given === this.#program && ofPrograms.includes(name));
  }
}
