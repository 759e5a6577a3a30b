/** Returns the part of the page with this id; null: the page has none. */
export function part<Kind extends HTMLElement>(id: string): Kind | null {
  return document.getElementById(id) as Kind | null;
}

/** Reads the page again, as soon as nothing else is asked for. */
export function refresh(): void {
  part("main")?.dispatchEvent(new Event("refresh"));
}
