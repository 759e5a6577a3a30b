// Kept beyond the tab: a person who dictates to a computer turns them off once (WCAG 2.1.4).
const storedAs = "flatline-keys-off";

/** Returns whether single keys do nothing in this browser. */
export function areKeysOff(): boolean {
  return localStorage.getItem(storedAs) !== null;
}

/** Turns single keys off, or on again, in this browser. */
export function turnKeysOff(isOff: boolean): void {
  if (isOff) localStorage.setItem(storedAs, "yes");
  else localStorage.removeItem(storedAs);
}
