/** Host and port of a checked `server.listen`; the host may have colons of its own. */
export function listenAddress(listen: string): { readonly host: string; readonly port: number } {
  const colon = listen.lastIndexOf(":");
  return { host: listen.slice(0, colon), port: Number(listen.slice(colon + 1)) };
}
