/** Tells everybody who asked that something has changed. */
export interface Publisher {
  publish(): void;
  /** Calls `listener` after each change until the answer is called. */
  subscribe(listener: () => void): () => void;
}

/** Nobody has asked yet. */
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
