/** Returns whether a host (as in URL.hostname) is `localhost`, in 127.0.0.0/8, or `[::1]`. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/i.test(hostname);
}
