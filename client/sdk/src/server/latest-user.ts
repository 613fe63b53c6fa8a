/** The user according to the newest JWT: names change while users stay signed in. */
import type { User } from "../auth/state.ts";

/**
 * @param known as sealed at the last refresh
 * @param token comes directly from the backend, so its signature is not verified
 */
export function latest(known: User, token: string): User {
  try {
    const [, payload = ""] = token.split(".");
    const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const { sub, email, name } = JSON.parse(new TextDecoder().decode(bytes));
    if (sub === known.id && typeof email === "string" && typeof name === "string") return { id: sub, email, name };
  } catch {
    // Keep the known user.
  }
  return known;
}
