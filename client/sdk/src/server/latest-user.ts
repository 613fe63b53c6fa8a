/** A user as the newest JWT tells: names change while people stay signed in. */
import type { User } from "../auth/state.ts";

/**
 * @param known as sealed at the last refresh
 * @param token straight from the backend, hence read without verifying it
 */
export function latest(known: User, token: string): User {
  try {
    const [, payload = ""] = token.split(".");
    const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const { sub, email, name } = JSON.parse(new TextDecoder().decode(bytes));
    if (sub === known.id && typeof email === "string" && typeof name === "string") return { id: sub, email, name };
  } catch {
    // What is known stays.
  }
  return known;
}
