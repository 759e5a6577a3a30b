import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { BlockList, isIP, isIPv6 } from "node:net";

import { rightsOf } from "../../contract/rights.ts";
import type { AccessSettings, Identity } from "./admission.ts";

// A longer name is refused.
const longestUser = 200;

/** Returns the user that a trusted reverse proxy names; null: none, or another sender; "wrong": invalid headers. */
export function identifyByProxy(
  { rawHeaders, socket }: IncomingMessage,
  proxy: NonNullable<AccessSettings["trustedProxy"]>,
): Identity | null | "wrong" {
  if (!comesFrom(socket.remoteAddress ?? "", proxy.from)) return null;
  const users = valuesOf(rawHeaders, proxy.userHeader);
  if (users.length === 0) return null;
  const [user = ""] = users;
  const lines = valuesOf(rawHeaders, proxy.groupsHeader);
  // If a header comes twice, the client may have sent one of them.
  if (users.length > 1 || lines.length > 1 || user === "" || user.length > longestUser) return "wrong";
  const groups = (lines[0] ?? "").split(",").map((one) => one.trim());
  return {
    name: user,
    personName: null,
    via: "proxy",
    rights: rightsOf(groups.flatMap((group) => (Object.hasOwn(proxy.may, group) ? (proxy.may[group] ?? []) : []))),
    slugs: null,
  };
}

/** Returns every value of a header: Node.js joins them, or keeps only one. */
function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.flatMap((header, index) =>
    index % 2 === 0 && header.toLowerCase() === name.toLowerCase() ? [decode(rawHeaders[index + 1] ?? "").trim()] : [],
  );
}

/** Proxies send UTF-8, which HTTP reads as Latin-1. */
function decode(value: string): string {
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : value;
}

const lists = new WeakMap<readonly string[], BlockList>();

/** Returns whether an address is in these ranges; false for what is no address. */
export function comesFrom(address: string, from: readonly string[]): boolean {
  const list = lists.get(from) ?? listOf(from);
  lists.set(from, list);
  return isIP(address) !== 0 && list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

function listOf(from: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of from) {
    const [address = "", length] = range.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return list;
}
