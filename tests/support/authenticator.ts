/** An authenticator in software: makes passkeys and signs with them, as a program may that is no browser. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest();
const text = (value: string) => Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
const bytes = (value: Buffer) => Buffer.concat([head(2, value.length), value]);

/** The beginning of an item of CBOR (RFC 8949, section 3). */
function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  return length < 256
    ? Buffer.from([(major << 5) | 24, length])
    : Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
}

/** A public key of P-256 as COSE has it (RFC 9053): kty 2, alg -7, crv 1, x, y. */
function coseOf(key: KeyObject): Buffer {
  const { x = "", y = "" } = key.export({ format: "jwk" });
  const point = (value: string) => bytes(Buffer.from(value, "base64url"));
  return Buffer.concat([Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21]), point(x), Buffer.from([0x22]), point(y)]);
}

export class Authenticator {
  readonly credential: Buffer;
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #origin: string;

  constructor(origin: string, credential: Buffer = randomBytes(16)) {
    this.#origin = origin;
    this.credential = credential;
  }

  get id(): string {
    return this.credential.toString("base64url");
  }

  /** Answers options of a registration. */
  register(challenge: string, transports: unknown = ["internal"]): object {
    const { length } = this.credential;
    const attested = [
      Buffer.alloc(16),
      Buffer.from([length >> 8, length & 255]),
      this.credential,
      coseOf(this.#keys.publicKey),
    ];
    const data = Buffer.concat([this.#data(0x45), ...attested]);
    const parts = [
      Buffer.from([0xa3]),
      text("fmt"),
      text("none"),
      text("attStmt"),
      Buffer.from([0xa0]),
      text("authData"),
      bytes(data),
    ];
    return this.#answer({
      clientDataJSON: this.#said("webauthn.create", challenge),
      attestationObject: Buffer.concat(parts).toString("base64url"),
      transports,
    });
  }

  /** Answers options of a sign-in. */
  signIn(challenge: string): object {
    const data = this.#data(0x05);
    const clientDataJSON = this.#said("webauthn.get", challenge);
    const signed = Buffer.concat([data, sha256(Buffer.from(clientDataJSON, "base64url"))]);
    return this.#answer({
      clientDataJSON,
      authenticatorData: data.toString("base64url"),
      signature: sign("sha256", signed, this.#keys.privateKey).toString("base64url"),
    });
  }

  #answer(response: object): object {
    return { id: this.id, rawId: this.id, type: "public-key", clientExtensionResults: {}, response };
  }

  #said(type: string, challenge: string): string {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#origin })).toString("base64url");
  }

  /** @param flags 1: present, 4: verified, 64: with a key */
  #data(flags: number): Buffer {
    return Buffer.concat([sha256(new URL(this.#origin).hostname), Buffer.from([flags, 0, 0, 0, 0])]);
  }
}
