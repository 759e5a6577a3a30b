import { NOTFOUND, Resolver } from "node:dns/promises";

/** What the resolvers say of a name. `failed`: nothing that can be used. */
export type Resolved =
  | { readonly kind: "addresses"; readonly addresses: readonly string[] }
  | { readonly kind: "gone" }
  | { readonly kind: "failed" };

/**
 * Asks each server for the name's addresses; empty: those of the system. It is gone when every one says that it does not exist, for
 * A and AAAA alike (NXDOMAIN, RFC 2308); with the addresses of all of them, as one that is refused refuses the name.
 */
export async function resolveName(host: string, servers: readonly string[], timeoutMs: number): Promise<Resolved> {
  const asked = servers.length === 0 ? new Resolver().getServers() : servers;
  const answers = await Promise.all(asked.map(async (server) => askServer(host, server, timeoutMs)));
  if (answers.length > 0 && answers.every(({ isGone }) => isGone)) return { kind: "gone" };
  const addresses = [...new Set(answers.flatMap((answer) => answer.addresses))];
  return addresses.length === 0 ? { kind: "failed" } : { kind: "addresses", addresses };
}

async function askServer(
  host: string,
  server: string,
  timeoutMs: number,
): Promise<{ readonly addresses: readonly string[]; readonly isGone: boolean }> {
  // The second try takes twice as long as the first.
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 4), tries: 2 });
  resolver.setServers([server]);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const codes = answers.flatMap((answer) => (answer.status === "rejected" ? codeOf(answer.reason) : []));
  return {
    addresses: answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : [])),
    isGone: codes.length === 2 && codes.every((code) => code === NOTFOUND),
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
