/**
 * Which names this service may be called by while it is being developed. A page of anybody's may have its name lead to
 * 127.0.0.1 after it was loaded (DNS rebinding), and then reads what it likes as its own origin, whatever CORS says; what
 * gives it away is `Host`.
 * Next hop: `src/server/app.ts` asks before anything is answered, `../realtime/socket.ts` before an upgrade.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { SvcError } from "../kit/svc-error.ts";

export interface AllowedHostsSettings {
  /** `allowedHosts` of the configuration: names, ".name" for all below it, true for any; null: it says nothing. */
  allowedHosts: readonly string[] | true | null;
  /** In production a proxy or the network decides who comes; the list counts where it is given. */
  production: boolean;
  /** The address that is listened on; null: all. */
  host: string | null;
  /** The origins of the policy: the service's own names, and those of its frontends. */
  origins: readonly string[];
}

/** @throws SvcError FORBIDDEN for a name that is not allowed */
export type CheckHost = (request: Pick<IncomingMessage, "headers">) => void;

/**
 * Node keeps the first of several `Host` headers, a proxy in front may have looked at another one.
 * Source: RFC 9112, section 3.2.
 *
 * @throws SvcError BAD_REQUEST
 */
export function requireOneHost({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  if (hosts > 1) throw new SvcError("BAD_REQUEST", "The request has more than one Host header.");
}

export function createHostCheck({ allowedHosts, production, host, origins }: AllowedHostsSettings): CheckHost {
  if (allowedHosts === true || (allowedHosts === null && production)) return () => {};
  const named = [...(allowedHosts ?? []), ...origins.map((origin) => new URL(origin).hostname)];
  const exact = new Set(named.filter((name) => !name.startsWith(".")));
  const below = named.filter((name) => name.startsWith("."));
  const isOpen = host === null || !isLoopback(host);

  const isAllowed = (name: string): boolean =>
    name === "localhost" ||
    name.endsWith(".localhost") ||
    isIP(name) !== 0 || // no name leads there, so no name can be made to
    exact.has(name) ||
    below.some((end) => name.endsWith(end) || name === end.slice(1)) ||
    // "api", as containers call each other: nobody on the internet has such a name, and neighbours come in anyway.
    (isOpen && !name.includes("."));

  return ({ headers }) => {
    // Only programs leave it out. Node refuses HTTP/1.1 without it.
    if (headers.host === undefined || headers.host === "" || isAllowed(nameIn(headers.host))) return;
    throw new SvcError("FORBIDDEN", "This service does not accept this host name.", {
      hint:
        "While developing, only localhost, IP addresses, AUTHLIB_URL and frontendOrigins are. " +
        "Add the name to allowedHosts in svc.config.ts, or to SVC_ALLOWED_HOSTS.",
    });
  };
}

/** The name in a `Host` header: without the port, brackets and the dot that stands for the root. */
function nameIn(host: string): string {
  const [, ipv6, name = ""] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  return (ipv6 ?? name).toLowerCase().replace(/\.$/, "");
}

const isLoopback = (address: string): boolean => address.startsWith("127.") || address === "::1";
