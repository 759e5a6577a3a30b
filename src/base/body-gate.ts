/** Lets a few large bodies be read at a time, so that what they take in memory does not grow with the requests under way. */
export interface BodyGate {
  /** From how many bytes on a body waits for its turn. */
  readonly freeBytes: number;
  /** Calls `begin` when it is this body's turn, at once where one is free; answers how to leave, also while it waits. */
  enter(begin: () => void): () => void;
}

export interface BodyGateOptions {
  readonly freeBytes: number;
  /** How many are read at once. */
  readonly places: number;
  /** Told of each that comes in. */
  readonly onEnter: () => void;
  /** Told when the last has left. */
  readonly onEmpty: () => void;
}

/** A gate with all places free. */
export function createBodyGate({ freeBytes, places, onEnter, onEmpty }: BodyGateOptions): BodyGate {
  const waiting = new Set<() => void>();
  let inside = 0;

  function comeIn(begin: () => void): void {
    inside++;
    onEnter();
    begin();
  }

  function leave(): void {
    inside--;
    const [next] = waiting;
    if (next !== undefined) {
      waiting.delete(next);
      comeIn(next);
    } else if (inside === 0) onEmpty();
  }

  return {
    freeBytes,
    enter: (begin) => {
      if (inside < places) comeIn(begin);
      else waiting.add(begin);
      return () => {
        if (!waiting.delete(begin)) leave();
      };
    },
  };
}
