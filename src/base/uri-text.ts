/** Returns a part of a URL without its %XX; as it is where a % stands for itself. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the address of a page below flatline's own; null without that. */
export function pageUrl(externalUrl: string, path: string): string;
export function pageUrl(externalUrl: string | null, path: string): string | null;
export function pageUrl(externalUrl: string | null, path: string): string | null {
  return externalUrl === null ? null : `${externalUrl.replace(/\/+$/, "")}/${path}`;
}
