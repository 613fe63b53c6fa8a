/**
 * Read grants: signed leave to read one private object for some time, as the one who made the grant. They are kept nowhere,
 * so any process takes one that another gave. One ends with its time, with the object, and as soon as its maker may not
 * see the object any more: that is asked each time (sql/storage/find_storage_objects.sql).
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Disposition } from "../contract/storage.ts";

/** For whom the policies are asked. */
export type Reader = "anonymous" | "system" | `user ${string}`;

export interface ReadGrant {
  /** Who made it, and may see the object. */
  issuer: Reader;
  disposition: Disposition;
  /** In seconds since 1970. */
  expires: number;
}

/** Expiry, disposition, issuer, signature. Grants without an issuer, of earlier versions, are none any more. */
const form = /^([0-9a-z]{1,10})\.(inline|attachment)\.([asu][\w-]{0,400})\.([\w-]{43})$/;

export class ReadGrants {
  readonly #secrets: readonly string[];

  /** @param secrets newest first: the first signs, all verify */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  /** The `grant` parameter of the URL. */
  sign(id: string, { disposition, expires, issuer }: ReadGrant): string {
    const said = `${expires.toString(36)}.${disposition}.${written(issuer)}`;
    return `${said}.${mac(this.#secrets[0] ?? "", id, said)}`;
  }

  /** @returns null when it was not signed here, for this object, or is over */
  verify(id: string, grant: string | undefined): ReadGrant | null {
    const [, expires = "", disposition = "", issuer = "", signature = ""] = form.exec(grant ?? "") ?? [];
    if (signature === "") return null;
    // Compared as text: base64url has spare bits, and only one spelling is ours.
    const isOurs = (secret: string) =>
      timingSafeEqual(Buffer.from(mac(secret, id, `${expires}.${disposition}.${issuer}`)), Buffer.from(signature));
    if (!this.#secrets.some(isOurs)) return null;
    const read = {
      issuer: readIssuer(issuer),
      disposition: disposition as Disposition,
      expires: Number.parseInt(expires, 36),
    };
    return read.expires * 1000 > Date.now() ? read : null;
  }
}

/** One letter says what kind of issuer it is; a user's id follows in base64url, for it may have any characters. */
const written = (issuer: Reader): string =>
  issuer.startsWith("user ") ? `u${Buffer.from(issuer.slice(5)).toString("base64url")}` : issuer.slice(0, 1);

function readIssuer(text: string): Reader {
  if (text.startsWith("u")) return `user ${Buffer.from(text.slice(1), "base64url").toString()}`;
  return text === "s" ? "system" : "anonymous";
}

/** What else the secret signs begins otherwise. */
const mac = (secret: string, id: string, said: string): string =>
  createHmac("sha256", secret).update(`svc storage read grant\n${id}\n${said}`).digest("base64url");
