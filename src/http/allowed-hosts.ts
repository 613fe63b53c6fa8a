/**
 * Checks the `Host` header in development, against DNS rebinding: a foreign page points its name to 127.0.0.1 after it
 * was loaded, and then reads answers as its own origin, whatever CORS says. Only `Host` reveals this.
 * Next hop: `src/server/app.ts` checks before any answer, `../realtime/socket.ts` before an upgrade.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { SvcError } from "../kit/svc-error.ts";

export interface AllowedHostsSettings {
  /** `allowedHosts` of the configuration: names, ".name" for its subdomains, true for any; null: not configured. */
  allowedHosts: readonly string[] | true | null;
  /** In production a proxy or the network controls access; only a configured list is enforced. */
  production: boolean;
  /** The address to listen on; null: all. */
  host: string | null;
  /** The policy's origins: the service's own names and those of its frontends. */
  origins: readonly string[];
}

/** @throws SvcError FORBIDDEN for a host that is not allowed */
export type CheckHost = (request: Pick<IncomingMessage, "headers">) => void;

/** @returns null when every host is allowed */
export function createHostCheck({ allowedHosts, production, host, origins }: AllowedHostsSettings): CheckHost | null {
  if (allowedHosts === true || (allowedHosts === null && production)) return null;
  const named = [...(allowedHosts ?? []), ...origins.map((origin) => new URL(origin).hostname)];
  const exact = new Set(named.filter((name) => !name.startsWith(".")));
  const below = named.filter((name) => name.startsWith("."));
  const isOpen = host === null || !isLoopback(host);

  const isAllowed = (name: string): boolean =>
    name === "localhost" ||
    name.endsWith(".localhost") ||
    isIP(name) !== 0 || // DNS rebinding needs a name
    exact.has(name) ||
    below.some((end) => name.endsWith(end) || name === end.slice(1)) ||
    // Single labels such as "api", for calls between containers: no public host has such a name.
    (isOpen && !name.includes("."));

  return ({ headers }) => {
    // Browsers always send it. Node refuses HTTP/1.1 without it.
    if (headers.host === undefined || headers.host === "" || isAllowed(nameIn(headers.host))) return;
    throw new SvcError("FORBIDDEN", "This service does not accept this host name.", {
      hint:
        "While developing, only localhost, IP addresses, AUTHLIB_URL and frontendOrigins are. " +
        "Add the name to allowedHosts in svc.config.ts, or to SVC_ALLOWED_HOSTS.",
    });
  };
}

/** The name in a `Host` header: without the port, brackets and the trailing root dot. */
function nameIn(host: string): string {
  const [, ipv6, name = ""] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  return (ipv6 ?? name).toLowerCase().replace(/\.$/, "");
}

const isLoopback = (address: string): boolean => address.startsWith("127.") || address === "::1";
