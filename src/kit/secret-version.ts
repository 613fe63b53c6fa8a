/**
 * The number under which the library remembers with which secret it encrypted something. It has to stay when others
 * join or leave the list, so it comes from the secret itself, one way and only 31 bits of it.
 * Next hop: `src/auth/library.ts` gives it to the library, `src/auth/reencrypt.ts` looks it up.
 */
import { createHmac } from "node:crypto";

export function versionOf(secret: string): number {
  return createHmac("sha256", secret).update("svc secret version").digest().readUInt32BE(0) >>> 1;
}
