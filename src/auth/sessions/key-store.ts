/**
 * The keys that sign JWTs, stored in auth.jwks and shared by all processes. Private keys are encrypted with the
 * service's secret, in the library's own format, so that its jwt plugin could read them.
 * Next hop: `sql/auth/list_keys.sql`, `sql/auth/add_key.sql`.
 */
import { randomUUID } from "node:crypto";
import { parseEnvelope, type SecretConfig, symmetricDecrypt, symmetricEncrypt } from "better-auth/crypto";
import { exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import type pg from "pg";
import type { Logger } from "pino";
import { oneAtATime } from "../../kit/one-at-a-time.ts";
import { secretConfig } from "../../kit/secret-version.ts";
import { askAuth } from "../ask-auth.ts";

export interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
}

interface Row {
  id: string;
  public_key: string;
  private_key: string;
  expires_at: Date | null;
}

interface KnownKey {
  jwk: JWK;
  publicKey: CryptoKey;
  /** In milliseconds: until when its signatures are accepted. */
  expiresAt: number;
}

export const algorithm = "EdDSA";
/** In milliseconds: how long an unknown `kid` is rejected without a query, so that invented ids cannot cause a query each. */
const lookAgainAfter = 2_000;
/** In milliseconds: how soon a process notices that an operator has retired or removed a key. */
const trustFor = 60_000;
/** In milliseconds: a token's five minutes and a margin. A signature must be accepted until the token expires. */
const signingMargin = 6 * 60_000;

export class KeyStore {
  readonly #pool: pg.Pool;
  readonly #secrets: SecretConfig;
  readonly #log: Logger;
  #known = new Map<string, KnownKey>();
  #rows: Row[] = [];
  #signing: (SigningKey & { expiresAt: number }) | undefined;
  /** By `performance.now()`: the clock of the machine may be set back. */
  #readAt = Number.NEGATIVE_INFINITY;
  readonly #read = oneAtATime(() => this.#readNow());
  readonly #renew = oneAtATime(() => this.#renewNow());

  /** @param secrets newest first */
  constructor(pool: pg.Pool, secrets: readonly string[], log: Logger) {
    this.#pool = pool;
    this.#secrets = secretConfig(secrets);
    this.#log = log;
  }

  /** The key to sign with. The first call of the first process creates one. */
  async signingKey(): Promise<SigningKey> {
    const now = Date.now();
    const fresh = performance.now() - this.#readAt < trustFor;
    if (this.#signing && fresh && this.#signing.expiresAt > now + signingMargin) return this.#signing;
    return this.#renew();
  }

  /** The key with that id if its signatures are accepted, or null. */
  async publicKey(kid: string): Promise<CryptoKey | null> {
    await this.#readAgain(this.#known.has(kid) ? trustFor : lookAgainAfter);
    const key = this.#known.get(kid);
    return key && key.expiresAt > Date.now() ? key.publicKey : null;
  }

  /** The JSON Web Key Set, for other services that verify our tokens. */
  async publicKeySet(): Promise<{ keys: JWK[] }> {
    await this.#readAgain(lookAgainAfter);
    const live = [...this.#known].filter(([, key]) => key.expiresAt > Date.now());
    return { keys: live.map(([kid, { jwk }]) => ({ ...jwk, kid, alg: algorithm, use: "sig" })) };
  }

  async #renewNow(): Promise<SigningKey> {
    // The race for the first key takes two rounds; more only while processes with different secrets start together.
    for (let round = 0; round < 5; round++) {
      await this.#read();
      const usable = await this.#openNewest();
      if (usable) {
        this.#signing = usable;
        return usable;
      }
      await this.#add();
    }
    throw new Error("No signing key could be added: other processes keep adding keys that this one cannot open.");
  }

  /** Uses only keys that the newest secret encrypted: after a secret is replaced, the keys are replaced too. */
  async #openNewest(): Promise<(SigningKey & { expiresAt: number }) | undefined> {
    for (const row of this.#rows) {
      const expiresAt = row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
      const sealed = JSON.parse(row.private_key) as string;
      if (expiresAt < Date.now() + signingMargin) continue;
      if (parseEnvelope(sealed)?.version !== this.#secrets.currentVersion) continue;
      try {
        const jwk = JSON.parse(await symmetricDecrypt({ key: this.#secrets, data: sealed })) as JWK;
        return { kid: row.id, privateKey: (await importJWK(jwk, algorithm)) as CryptoKey, expiresAt };
      } catch {
        this.#log.error(
          { kid: row.id },
          "a signing key cannot be decrypted, although its secret is known; skipping it",
        );
      }
    }
    return undefined;
  }

  async #add(): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { crv: "Ed25519", extractable: true });
    const sealed = await symmetricEncrypt({ key: this.#secrets, data: JSON.stringify(await exportJWK(privateKey)) });
    const what = "auth.add_key($1, $2, $3, $4) as added";
    const [row] = await askAuth<{ added: boolean }>(this.#pool, what, [
      randomUUID(),
      JSON.stringify(await exportJWK(publicKey)),
      JSON.stringify(sealed),
      this.#rows.map((known) => known.id),
    ]);
    if (row?.added) this.#log.info("added a key that signs JWTs");
  }

  async #readAgain(after: number): Promise<void> {
    if (performance.now() - this.#readAt >= after) await this.#read();
  }

  async #readNow(): Promise<void> {
    const what = "id, public_key, private_key, expires_at from auth.list_keys()";
    const rows = await askAuth<Row>(this.#pool, what);
    const known = new Map<string, KnownKey>();
    for (const { id, public_key, expires_at } of rows) {
      const jwk = JSON.parse(public_key) as JWK;
      const publicKey = (await importJWK(jwk, algorithm)) as CryptoKey;
      known.set(id, { jwk, publicKey, expiresAt: expires_at?.getTime() ?? Number.POSITIVE_INFINITY });
    }
    this.#known = known;
    this.#rows = rows;
    this.#readAt = performance.now();
  }
}
