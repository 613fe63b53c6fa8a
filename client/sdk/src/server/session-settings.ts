/** Name and passwords of the bridge's session cookie, checked once. Next hop: `sealed-session.ts`. */

export interface BridgeSessionOptions {
  /** Seals the cookie; at least 32 characters, from the environment. Either this or `passwords`. */
  password?: string | undefined;
  /** Newest first: the first one seals, all of them unseal. Removing one signs out the users whose cookie it sealed last. */
  passwords?: readonly string[] | undefined;
  /** Without a prefix; a secure cookie gets the prefix `__Host-`. (Default: "svc_bridge_session") */
  cookieName?: string | undefined;
  /** Whether browsers send it over https only. (Default: unless the frontend is http://localhost or 127.0.0.1) */
  secure?: boolean | undefined;
}

export interface SessionSettings {
  /** Newest first, never empty. */
  passwords: readonly string[];
  cookieName: string;
  secure: boolean | undefined;
}

/** In characters; iron-session has the same minimum. */
const shortestPassword = 32;

/** @throws TypeError for invalid settings; the message contains no password */
export function checkSession(options: BridgeSessionOptions): SessionSettings {
  const { password, passwords, cookieName = "svc_bridge_session", secure } = options;
  if (password !== undefined && passwords !== undefined) {
    throw new TypeError("The bridge's session takes password or passwords, not both.");
  }
  const all = passwords ?? (password === undefined ? [] : [password]);
  if (all.length === 0) throw new TypeError("The bridge's session needs a password. Is its environment variable set?");
  for (const [index, each] of all.entries()) {
    if (typeof each === "string" && each.length >= shortestPassword) continue;
    throw new TypeError(
      `Password ${index + 1} of the bridge's session has fewer than ${shortestPassword} characters. ` +
        "`openssl rand -hex 32` makes a good one.",
    );
  }
  if (!/^[\w.-]+$/.test(cookieName)) {
    throw new TypeError("The bridge's cookieName may have letters, digits, dots, dashes and underscores.");
  }
  return { passwords: all, cookieName, secure };
}

/** With `__Host-` browsers accept the cookie only over https, from this host, and for all its paths. */
export function nameOf({ cookieName }: SessionSettings, secure: boolean): string {
  return secure ? `__Host-${cookieName.replace(/^__(Host|Secure)-/, "")}` : cookieName;
}
