import { BlockList, isIP } from "node:net";

// What is no public unicast address (CONTRACT 16): IANA's special-purpose registries, and the platform address of Azure's hosts.
const refusedV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "168.63.129.16/32",
];
const globalV6 = ["2000::/3"];
const refusedV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const refused = rangesOf([...refusedV4, ...refusedV6]);
const global = rangesOf(globalV6);

/** Returns the ranges of some CIDR blocks, which must be valid ones (`isCidr`). */
export function rangesOf(blocks: readonly string[]): BlockList {
  const ranges = new BlockList();
  for (const block of blocks) {
    const [address = "", bits = ""] = block.split("/");
    ranges.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return ranges;
}

/** Returns whether a text is a block of addresses, such as `127.0.0.0/8` or `fd00::/8`. */
export function isCidr(text: string): boolean {
  const [, address = "", bits = ""] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(bits) <= (version === 6 ? 128 : 32);
}

/** Returns whether an address is in some ranges; an IPv6 address that holds an IPv4 address is in no range of IPv4. */
export function isInRanges(ranges: BlockList, address: string): boolean {
  const version = isIP(address);
  if (version === 4) return ranges.check(address, "ipv4");
  // Node.js looks up ::ffff:0:0/96 as IPv4, which is what must not happen here.
  return version === 6 && !isMapped(address) && ranges.check(address, "ipv6");
}

/** Returns whether an address is a public unicast address: only these may ever be connected to. */
export function isPublicAddress(address: string): boolean {
  // A zone names an interface of this machine.
  if (address.includes("%")) return false;
  if (isIP(address) === 6) return isInRanges(global, address) && !isInRanges(refused, address);
  return isIP(address) === 4 && !isInRanges(refused, address);
}

const mapped = rangesOf(["::ffff:0:0/96"]);

function isMapped(address: string): boolean {
  return mapped.check(address, "ipv6");
}
