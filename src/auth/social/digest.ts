/** SHA-256 of a random secret, in base64url: what may be kept of it, and be compared. */
import { createHash } from "node:crypto";

export const digest = (secret: string): string => createHash("sha256").update(secret).digest("base64url");
