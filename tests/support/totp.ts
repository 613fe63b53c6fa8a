/** Codes of an authenticator app (RFC 6238: SHA-1, 30 seconds, six digits). */
import { createHmac } from "node:crypto";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The current code for an `otpauth:` URI. */
export function totp(uri: string): string {
  const secret = new URL(uri).searchParams.get("secret") ?? "";
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const mac = createHmac("sha1", key).update(counter).digest();
  const start = (mac.at(-1) ?? 0) & 15;
  return sixDigits(mac.readUInt32BE(start) & 0x7fffffff);
}

/** A code that differs from this one. */
export const wrong = (code: string): string => sixDigits(Number(code) + 1);

const sixDigits = (value: number) => String(value % 1_000_000).padStart(6, "0");
