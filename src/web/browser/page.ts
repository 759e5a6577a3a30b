/** Returns the element with this id; null: none. */
export function part<Kind extends HTMLElement>(id: string): Kind | null {
  return document.getElementById(id) as Kind | null;
}

/** Refreshes the page after the request that runs now. */
export function refresh(): void {
  part("main")?.dispatchEvent(new Event("refresh"));
}
