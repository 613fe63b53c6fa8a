/**
 * Read grants: signed leave to read one private object for some time. They are kept nowhere, so any process takes one
 * that another gave; deleting the object ends them.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export type Disposition = "inline" | "attachment";

export interface ReadGrant {
  disposition: Disposition;
  /** In seconds since 1970. */
  expires: number;
}

const form = /^([0-9a-z]{1,10})\.(inline|attachment)\.([\w-]{43})$/;

export class ReadGrants {
  readonly #secrets: readonly string[];

  /** @param secrets newest first: the first signs, all verify */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  /** The `grant` parameter of the URL. */
  sign(id: string, { disposition, expires }: ReadGrant): string {
    const said = `${expires.toString(36)}.${disposition}`;
    return `${said}.${mac(this.#secrets[0] ?? "", id, said)}`;
  }

  /** @returns null when it was not signed here, for this object, or is over */
  verify(id: string, grant: string | undefined): ReadGrant | null {
    const [, expires = "", disposition = "", signature = ""] = form.exec(grant ?? "") ?? [];
    if (signature === "") return null;
    // Compared as text: base64url has spare bits, and only one spelling is ours.
    const isOurs = (secret: string) =>
      timingSafeEqual(Buffer.from(mac(secret, id, `${expires}.${disposition}`)), Buffer.from(signature));
    if (!this.#secrets.some(isOurs)) return null;
    const read = { disposition: disposition as Disposition, expires: Number.parseInt(expires, 36) };
    return read.expires * 1000 > Date.now() ? read : null;
  }
}

/** What else the secret signs begins otherwise. */
const mac = (secret: string, id: string, said: string): string =>
  createHmac("sha256", secret).update(`svc storage read grant\n${id}\n${said}`).digest("base64url");
