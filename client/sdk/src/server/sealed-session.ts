/**
 * The content of the bridge's cookie, sealed by iron-session (encrypted, and signed with a time limit). A value that
 * differs from our seal in any bit is ignored.
 * Next hop: none.
 */
import { toUser, type User } from "../auth/state.ts";

export interface SealedSession {
  user: User;
  sessionToken: string;
}

/** Loaded when a cookie is sealed or opened: a server that only forwards cookies needs no bridge, and not this package. */
const ironSession = () => import("iron-session");

/** In seconds: as long as a session of the service lasts. */
export const lifetime = 7 * 24 * 60 * 60;

/** iron-session accepts a seal for another minute, for clocks that differ. Here it ends after exactly seven days. */
const ttl = lifetime - 60;

/** In characters. Browsers drop longer cookies, so a longer one is not ours. */
const longest = 4096;

/**
 * The form that `sealData` writes. The version at the end and the spare bits of the signature's last character are not
 * signed, and iron-session would accept any value there.
 */
const shape =
  /^Fe26\.2\*1\*[0-9a-f]{64}\*[\w-]{22}\*[\w-]+\*[1-9]\d{0,15}\*[0-9a-f]{64}\*[\w-]{42}[AEIMQUYcgkosw048]~2$/;

/**
 * Seals a session into the value of a cookie.
 *
 * @param cookie the cookie's name. A seal is valid only under this name, so a seal from development or from another
 *   application with the same password is refused
 */
export async function seal(session: SealedSession, cookie: string, passwords: readonly string[]): Promise<string> {
  const { sealData } = await ironSession();
  const { user, sessionToken } = session;
  return sealData({ cookie, user, sessionToken }, { password: passwords[0] as string, ttl });
}

/** @returns null for anything but our seal, and for one that is too old or made for another cookie */
export async function unseal(
  value: string,
  cookie: string,
  passwords: readonly string[],
): Promise<SealedSession | null> {
  if (value.length > longest || !shape.test(value)) return null;
  const { unsealData } = await ironSession();
  // Tried one by one: password ids would have to stay the same while the list changes.
  for (const password of passwords) {
    const held = await unsealData<Partial<SealedSession> & { cookie?: string }>(value, { password, ttl });
    if (held.cookie === cookie) return toSession(held);
  }
  return null;
}

function toSession({ user, sessionToken }: Partial<SealedSession>): SealedSession | null {
  try {
    return typeof sessionToken === "string" ? { user: toUser(user), sessionToken } : null;
  } catch {
    return null;
  }
}
