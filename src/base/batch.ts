import { FlatlineError } from "./errors.ts";
import { eventLoopTurn } from "./time.ts";

interface Waiting<Request, Answer> {
  readonly request: Request;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

// One fsync for 512 requests costs little for each: larger groups save next to nothing.
const largestGroup = 512;

/**
 * Creates a function whose calls share transactions: requests that arrive while a group runs form the next group,
 * without a key twice. `run` does all of a group or none and returns the answers in order. If it fails, and not because
 * of the store, each request is tried alone, so that none fails because of another. `gather` lets requests of the same
 * turn join.
 */
export function createBatch<Request, Answer>(
  run: (requests: readonly Request[]) => Promise<readonly Answer[]>,
  keyOf: (request: Request) => string,
  gather: () => Promise<void> = eventLoopTurn,
): (request: Request) => Promise<Answer> {
  const queue: Waiting<Request, Answer>[] = [];
  let isRunning = false;

  /** Takes requests from the front, until a key repeats. */
  function takeGroup(): Waiting<Request, Answer>[] {
    const keys = new Set<string>();
    const end = queue.findIndex(({ request }) => {
      const size = keys.size;
      return size === largestGroup || keys.add(keyOf(request)).size === size;
    });
    return queue.splice(0, end === -1 ? queue.length : end);
  }

  async function runGroup(group: readonly Waiting<Request, Answer>[]): Promise<void> {
    let answers: readonly Answer[];
    try {
      answers = await run(group.map(({ request }) => request));
    } catch (error) {
      if (group.length === 1 || isOfStore(error)) {
        for (const { reject } of group) reject(error);
        return;
      }
      for (const one of group) await runGroup([one]);
      return;
    }
    for (const [index, { resolve, reject }] of group.entries()) {
      const answer = answers[index];
      if (answer === undefined) reject(new FlatlineError("internal", "a group was answered in part"));
      else resolve(answer);
    }
  }

  async function runAll(): Promise<void> {
    isRunning = true;
    while (queue.length > 0) {
      await gather();
      await runGroup(takeGroup());
    }
    isRunning = false;
  }

  return (request) =>
    new Promise((resolve, reject) => {
      queue.push({ request, resolve, reject });
      if (!isRunning) void runAll();
    });
}

/** Returns whether the store is unusable or busy: then no single request is at fault. */
export function isOfStore(error: unknown): boolean {
  return error instanceof FlatlineError && (error.code.startsWith("store_") || error.code === "unavailable");
}
