/** Names of prepared statements. PostgreSQL cuts off what is longer than 63 bytes, and two names could become one. */
import { createHash } from "node:crypto";

const longest = 63;

/** @param name of ASCII letters */
export function preparedName(name: string): string {
  if (name.length <= longest) return name;
  const hash = createHash("sha256").update(name).digest("base64url").slice(0, 22);
  return `${name.slice(0, longest - hash.length - 1)} ${hash}`;
}
