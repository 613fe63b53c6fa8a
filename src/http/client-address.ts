/**
 * The network of a client, for counting attempts: an IPv4 address, or the /64 of an IPv6 address, since one customer
 * has all addresses of a /64. Normalized, whatever spelling a proxy used.
 * Next hop: `src/auth/passwords/attempts.ts`.
 */
import { isIP } from "node:net";

/** All requests with an unknown address share one network: the stricter choice. */
const unknown = "unknown";

/**
 * @param address Express's `request.ip`, which trusts as many proxies as `trustProxy` says
 * @example
 * networkOf("2001:DB8::7"); // "2001:db8:0:0::/64"
 */
export function networkOf(address: string | null | undefined): string {
  const text = withoutPort(address ?? "");
  const version = isIP(text);
  if (version === 4) return text.split(".").join("."); // a copy: a part of a header keeps the whole header in memory
  if (version === 0) return unknown;
  const groups = groupsOf(text);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return [6, 7].flatMap((index) => [(groups[index] ?? 0) >> 8, (groups[index] ?? 0) & 255]).join(".");
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

/** Some proxies add the port, and a link-local address names its interface. */
function withoutPort(text: string): string {
  const [, bracketed, ipv4] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? [];
  return (bracketed ?? ipv4 ?? text).replace(/%.*$/, "");
}

/** The eight groups; Node's URL parser accepts all spellings, including an IPv4 tail. */
function groupsOf(ipv6: string): number[] {
  const [head = "", tail] = new URL(`http://[${ipv6}]`).hostname.slice(1, -1).split("::");
  const parse = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  const [first, last] = [parse(head), parse(tail ?? "")];
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}
