/** SHA-256 of a random secret, in base64url. Only the digest is stored and compared. */
import { createHash } from "node:crypto";

export const digest = (secret: string): string => createHash("sha256").update(secret).digest("base64url");
