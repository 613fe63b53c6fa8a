/** The address of a provider of social sign-in. */

/** OpenID Connect: a URL without query and fragment, over TLS; for tests also without TLS on this machine. */
export function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isLocal = hostname === "localhost" || hostname === "127.0.0.1";
  return (protocol === "https:" || (protocol === "http:" && isLocal)) && !username && !password && !/[?#@]/.test(text);
}
