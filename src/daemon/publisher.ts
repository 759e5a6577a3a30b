/** Calls every subscriber after a change. */
export interface Publisher {
  publish(): void;
  /** Calls `listener` after each change until the answer is called. */
  subscribe(listener: () => void): () => void;
}

/** Creates a publisher without a subscriber. */
export function createPublisher(): Publisher {
  const listeners = new Set<() => void>();
  return {
    publish: () => {
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
