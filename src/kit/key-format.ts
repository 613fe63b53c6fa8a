/**
 * The form of an API key: `<prefix>_` and 48 characters of base64url, which are 32 random bytes and the CRC-32 of prefix and
 * bytes. Scanners of repositories find keys by the prefix. The checksum shows a typo without the database.
 */
import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const [randomLength, length] = [32, 48];

/** Of the keys of a user. In days: how long a key lasts. */
export const keyLimits = { perUser: 20, days: 365, maxDays: 3_650 } as const;

const checksum = (prefix: string, random: Buffer): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(random, crc32(prefix)));
  return bytes;
};

export function makeKey(prefix: string): string {
  const random = randomBytes(randomLength);
  return `${prefix}_${Buffer.concat([random, checksum(prefix, random)]).toString("base64url")}`;
}

/** Whether a credential is meant as a key. A session token and a JWT contain a dot. */
export const looksLikeKey = (credential: string, prefix: string): boolean =>
  credential.startsWith(`${prefix}_`) && !credential.includes(".");

/** Whether a credential has the form of a key, checksum included. */
export function isKey(credential: string, prefix: string): boolean {
  const encoded = credential.slice(prefix.length + 1);
  if (encoded.length !== length || !/^[\w-]+$/.test(encoded)) return false;
  const bytes = Buffer.from(encoded, "base64url");
  return checksum(prefix, bytes.subarray(0, randomLength)).equals(bytes.subarray(randomLength));
}

/** What lists show of a key: the prefix and six characters. */
export const startOf = (key: string, prefix: string): string => key.slice(0, prefix.length + 7);

/** What is stored of a key. */
export const hashOf = (key: string): Buffer => createHash("sha256").update(key).digest();
