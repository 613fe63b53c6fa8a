/**
 * The number by which the library records which secret encrypted a value. It must stay the same when the list of
 * secrets changes, so it is derived from the secret itself: a one-way hash, only 31 bits of it.
 * Next hop: `src/auth/library.ts` and `src/auth/sessions/key-store.ts` give it to the library, `src/auth/reencrypt.ts` looks it up.
 */
import { createHmac } from "node:crypto";

export function versionOf(secret: string): number {
  return createHmac("sha256", secret).update("svc secret version").digest().readUInt32BE(0) >>> 1;
}

/**
 * All secrets by their versions, in the form that the library's functions for encryption take.
 *
 * @param secrets newest first
 */
export const secretConfig = (secrets: readonly string[]) => ({
  keys: new Map(secrets.map((secret) => [versionOf(secret), secret])),
  currentVersion: versionOf(secrets[0] ?? ""),
});
