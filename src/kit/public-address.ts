/**
 * Refuses addresses that are not of the public internet, for connections to URLs that users choose. Otherwise such a URL
 * could lead to a database beside the service, or to the metadata of its host. `publicLookup` checks the address that the
 * socket connects to: a name may resolve to another one at the next look-up.
 */
import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { BlockList, isIP, type LookupFunction } from "node:net";

// https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry
const reserved = new BlockList();
for (const range of [
  ..."0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24".split(" "),
  ..."192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3".split(" "),
  ..."2001::/23 2001:db8::/32 2002::/16 3fff::/20".split(" "), // 2001::/23 and 2002::/16 hold IPv4 addresses of tunnels
]) {
  const [net = "", bits] = range.split("/");
  reserved.addSubnet(net, Number(bits), net.includes(":") ? "ipv6" : "ipv4");
}
const global = new BlockList();
global.addSubnet("2000::", 3, "ipv6");

/** @param address an IP address, without brackets */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !reserved.check(address);
  return family === 6 && global.check(address, "ipv6") && !reserved.check(address, "ipv6");
}

/** The message of the error for an address that is not public. */
export const privateAddress = "The URL leads to a private address.";

/** Of each question to a DNS server, in milliseconds, and how often one is asked. */
const patience = { timeout: 2_000, tries: 2 };

/**
 * The option `lookup` of a request: only public addresses. It is not called for a host that is an IP address.
 *
 * It asks the DNS servers of /etc/resolv.conf itself. `dns.lookup` would occupy one of the four threads that Node also reads
 * files and hashes with: a few names whose servers do not answer would stop these. It reads no /etc/hosts, whose names are
 * this network's.
 *
 * @param servers DNS servers, for tests. (Default: those of the system)
 */
export const publicLookup =
  (servers?: string[]): LookupFunction =>
  (host, { all }, done) => {
    resolvePublic(host, servers).then(
      (found) => {
        const [first] = found;
        if (!first) done(new Error(privateAddress), "");
        else if (all) done(null, found);
        else done(null, first.address, first.family);
      },
      (error) => done(error, ""),
    );
  };

/** @throws the error of the DNS server when it knows no address */
async function resolvePublic(host: string, servers: string[] | undefined): Promise<LookupAddress[]> {
  if (/(^|\.)localhost\.?$/i.test(host)) return []; // RFC 6761: no server is asked for it
  const resolver = new Resolver(patience); // reads resolv.conf, which may have changed
  if (servers) resolver.setServers(servers);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.flatMap((answer, index) =>
    answer.status === "fulfilled" ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
  );
  const [refused] = answers.filter((answer) => answer.status === "rejected");
  if (found.length === 0 && refused) throw refused.reason;
  return found.filter(({ address }) => isPublicAddress(address));
}
