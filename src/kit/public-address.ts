/**
 * Refuses addresses that are not of the public internet, for connections to URLs that users choose. Otherwise such a URL
 * could lead to a database beside the service, or to the metadata of its host. `lookupPublic` checks the address that the
 * socket connects to: a name may resolve to another one at the next look-up.
 */
import { lookup } from "node:dns";
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

/** The option `lookup` of a request: only public addresses. It is not called for a host that is an IP address. */
export const lookupPublic: LookupFunction = (host, options, done) =>
  lookup(host, { ...options, all: true }, (error, all) => {
    const found = error ? [] : all.filter(({ address }) => isPublicAddress(address));
    const [first] = found;
    if (!first) return done(error ?? new Error(privateAddress), "");
    return options.all ? done(null, found) : done(null, first.address, first.family);
  });
