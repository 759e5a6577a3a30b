interface Loop {
  isStalled(): boolean;
}

/** Returns which of the loops has stalled, in words; empty: all is well. */
export function stalledLoops(loops: Readonly<Record<string, Loop>>): string[] {
  return Object.entries(loops).flatMap(([name, loop]) => (loop.isStalled() ? [`the ${name} has stalled`] : []));
}
