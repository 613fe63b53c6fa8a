/**
 * Read grants: a signed permission to read one private object for some time with the rights of its issuer. They are
 * not stored, so any process accepts grants of another. A grant ends with its time, with the object, or as soon as
 * its issuer may not see the object any more, which each request checks (sql/storage/find_storage_objects.sql).
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Disposition } from "../contract/storage.ts";

/** The identity for the policies. */
export type Reader = "anonymous" | "system" | `user ${string}`;

export interface ReadGrant {
  /** The user who made it; must still be allowed to see the object. */
  issuer: Reader;
  disposition: Disposition;
  /** In seconds since 1970. */
  expires: number;
}

/** Expiry, disposition, issuer, signature. Grants of earlier versions, without an issuer, are invalid. */
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

  /** @returns null when it is expired, for another object, or not signed with one of the secrets */
  verify(id: string, grant: string | undefined): ReadGrant | null {
    const [, expires = "", disposition = "", issuer = "", signature = ""] = form.exec(grant ?? "") ?? [];
    if (signature === "") return null;
    // Compared as text: base64url has spare bits, and only one spelling is valid.
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

/** One letter gives the kind of issuer; a user's id follows in base64url, because it may contain any characters. */
const written = (issuer: Reader): string =>
  issuer.startsWith("user ") ? `u${Buffer.from(issuer.slice(5)).toString("base64url")}` : issuer.slice(0, 1);

function readIssuer(text: string): Reader {
  if (text.startsWith("u")) return `user ${Buffer.from(text.slice(1), "base64url").toString()}`;
  return text === "s" ? "system" : "anonymous";
}

/** The first line separates this use from other uses of the secret. */
const mac = (secret: string, id: string, said: string): string =>
  createHmac("sha256", secret).update(`svc storage read grant\n${id}\n${said}`).digest("base64url");
