/**
 * The client's address from a frontend's bridge, which asks in the name of all its visitors: signed with a secret that
 * the two share, for one request and one minute. Whatever is not that counts for nothing, and the caller is who connects.
 * Next hop: `src/auth/routes/endpoint.ts` and `../http/request-limits.ts` ask for it; `client/sdk/src/server/hand-address.ts` makes
 * it.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Logger } from "pino";
import { SvcError } from "../kit/svc-error.ts";

const header = "svc-client-address";

/** `v1`, address, seconds of the epoch, SHA-256 of the body, HMAC-SHA-256 of all that and the request. */
const shape = /^v1 ([0-9A-Fa-f:.]{2,45}) (\d{10}) ([\w-]{43}) ([\w-]{43})$/;

/** In seconds, both ways: clocks of two hosts differ, and requests take their time. */
const tolerance = 60;

interface Handed {
  address: string;
  /** SHA-256 of the body that it was signed with. */
  digest: string;
}

/** As found at a request's beginning. The body comes later. */
const found = new WeakMap<IncomingMessage, Handed | null>();

export class SignedClientAddress {
  readonly #secrets: readonly string[];
  readonly #log: Logger;
  #hasWarned = false;

  /** @param secrets any of them may have signed; none: nobody's word is taken */
  constructor(secrets: readonly string[], log: Logger) {
    this.#secrets = secrets;
    this.#log = log;
  }

  /** @returns the address that was handed over; undefined without one, or without a valid one */
  read(request: IncomingMessage): string | undefined {
    let handed = found.get(request);
    if (handed === undefined) {
      const value = request.headers[header];
      handed = typeof value === "string" ? this.#verify(request, value) : null;
      found.set(request, handed);
    }
    return handed?.address;
  }

  #verify(request: IncomingMessage, value: string): Handed | null {
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

  /** Said once: strangers can send what they like, and an operator has to hear of a slip. */
  #ignore(why: string): null {
    if (!this.#hasWarned) this.#log.warn({ why }, "a client address sent by a bridge is not trusted");
    this.#hasWarned = true;
    return null;
  }
}

/** The address that was handed over with a request whose beginning has been looked at. */
export const handedAddress = (request: IncomingMessage): string | undefined => found.get(request)?.address;

/**
 * One signature is for one body: else whoever sees it could try passwords in that visitor's name.
 *
 * @throws SvcError BAD_REQUEST
 */
export function requireHandedBody(request: IncomingMessage, body: Uint8Array): void {
  const handed = found.get(request);
  if (!handed || handed.digest === createHash("sha256").update(body).digest("base64url")) return;
  throw new SvcError("BAD_REQUEST", "This is not the body that svc-client-address was signed with.");
}
