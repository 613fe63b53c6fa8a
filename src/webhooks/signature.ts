/**
 * The signatures of webhooks that svc sends. By Standard Webhooks, version 1: https://github.com/standard-webhooks/standard-webhooks
 */
import { createHmac } from "node:crypto";

const secretRule = "whsec_ and 24 to 64 bytes in base64";

/**
 * The keys in a text with one secret, or with two while the first replaces the second, separated by a comma or a blank.
 *
 * @throws an error without the text
 */
export function readSecrets(text: string): Buffer[] {
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((secret) => {
      const [, encoded = ""] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
      const key = Buffer.from(encoded, "base64");
      if (key.length < 24 || key.length > 64) throw new Error(`The secret is not ${secretRule}.`);
      return key;
    });
}

/**
 * The headers that identify and sign a body: one signature for each key.
 *
 * @param seconds since 1970
 */
export function signatureHeaders(keys: readonly Buffer[], id: string, seconds: number, body: string) {
  const sign = (key: Buffer) => createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": keys.map((key) => `v1,${sign(key)}`).join(" "),
  };
}
