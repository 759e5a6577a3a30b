/** Decodes %XX; returns the text unchanged if a % stands for itself. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the address of a page under `externalUrl`; null without one. */
export function pageUrl(externalUrl: string, path: string): string;
export function pageUrl(externalUrl: string | null, path: string): string | null;
export function pageUrl(externalUrl: string | null, path: string): string | null {
  return externalUrl === null ? null : `${externalUrl.replace(/\/+$/, "")}/${path}`;
}

/** Returns whether a host (as in URL.hostname) is `localhost`, in 127.0.0.0/8, or `[::1]`. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/i.test(hostname);
}
