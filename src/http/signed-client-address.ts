/**
 * The visitor's address from a frontend's bridge, which calls on behalf of all its visitors. A secret shared with the
 * bridge signs it for one request and one minute. An invalid address is ignored, and the connecting address counts.
 * Next hop: `src/auth/routes/endpoint.ts` and `../http/request-limits.ts` read it;
 * `client/sdk/src/server/hand-address.ts` makes it.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Logger } from "pino";
import { SvcError } from "../kit/svc-error.ts";

const header = "svc-client-address";

/** `v1`, address, Unix time in seconds, SHA-256 of the body, HMAC-SHA-256 of all that and the request. */
const shape = /^v1 ([0-9A-Fa-f:.]{2,45}) (\d{10}) ([\w-]{43}) ([\w-]{43})$/;

/** In seconds, both ways: for clock differences between hosts, and for slow requests. */
const tolerance = 60;

interface SignedAddress {
  address: string;
  /** SHA-256 of the signed body. */
  digest: string;
}

/** Found at a request's start; the body is checked later. */
const found = new WeakMap<IncomingMessage, SignedAddress | null>();

export class SignedClientAddress {
  readonly #secrets: readonly string[];
  readonly #log: Logger;
  #hasWarned = false;

  /** @param secrets any of them may have signed; none: no address is accepted */
  constructor(secrets: readonly string[], log: Logger) {
    this.#secrets = secrets;
    this.#log = log;
  }

  /** @returns the signed address; undefined without one, or without a valid one */
  read(request: IncomingMessage): string | undefined {
    let handed = found.get(request);
    if (handed === undefined) {
      const value = request.headers[header];
      handed = typeof value === "string" ? this.#verify(request, value) : null;
      found.set(request, handed);
    }
    return handed?.address;
  }

  #verify(request: IncomingMessage, value: string): SignedAddress | null {
    const [, address = "", seconds = "", digest = "", signature = ""] = shape.exec(value) ?? [];
    if (isIP(address) === 0) return this.#ignore("it is not an IP address");
    if (this.#secrets.length === 0) return this.#ignore("SVC_BRIDGE_SECRET is not set");
    const { originalUrl: url = request.url } = request as IncomingMessage & { originalUrl?: string };
    const signed = ["v1", address, seconds, digest, request.method, url, request.headers.authorization ?? ""].join(
      "\n",
    );
    const given = Buffer.from(signature, "base64url");
    const isOurs = (secret: string) => timingSafeEqual(createHmac("sha256", secret).update(signed).digest(), given);
    if (!this.#secrets.some(isOurs)) return this.#ignore("it is not signed with SVC_BRIDGE_SECRET for this request");
    const age = Date.now() / 1000 - Number(seconds);
    if (Math.abs(age) <= tolerance) return { address, digest };
    return this.#ignore(`it is ${Math.round(age)} seconds old by this host's clock`);
  }

  /** Logged once: strangers can send anything, but an operator must learn of a configuration error. */
  #ignore(why: string): null {
    if (!this.#hasWarned) this.#log.warn({ why }, "a client address sent by a bridge is not trusted");
    this.#hasWarned = true;
    return null;
  }
}

/** The signed address of a request after `read`. */
export const signedAddressOf = (request: IncomingMessage): string | undefined => found.get(request)?.address;

/**
 * A signature covers one body: otherwise an observer could try passwords under that visitor's address.
 *
 * @throws SvcError BAD_REQUEST
 */
export function requireSignedBody(request: IncomingMessage, body: Uint8Array): void {
  const handed = found.get(request);
  if (!handed || handed.digest === createHash("sha256").update(body).digest("base64url")) return;
  throw new SvcError("BAD_REQUEST", "This is not the body that svc-client-address was signed with.");
}
