/** Limits how many large bodies are read at the same time, so that memory does not grow with the number of requests. */
export interface BodyGate {
  /** Bodies of at least this many bytes wait for a place. */
  readonly freeBytes: number;
  /**
   * Calls `begin` when a place is free, at once if there is one. Returns a function that leaves the queue or frees the
   * place.
   */
  enter(begin: () => void): () => void;
}

export interface BodyGateOptions {
  readonly freeBytes: number;
  /** Number of bodies that are read at the same time. */
  readonly places: number;
  /** Called for each large body. */
  readonly onEnter: () => void;
  /** Called when the last large body has been read. */
  readonly onEmpty: () => void;
}

/** Creates a gate with all places free. */
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
