import { FlatlineError } from "../base/errors.ts";
import { eventLoopTurn } from "../base/time.ts";

export interface GroupCommitOptions<Request, Answer> {
  /** Does all of them in one transaction and answers each, in order; nothing of it may be visible before it resolves. */
  readonly commit: (requests: readonly Request[]) => Promise<readonly Answer[]>;
  /** Two requests with the same key are never in one group. */
  readonly keyOf: (request: Request) => string;
  /** Awaited before a group is taken, for more to join it [one turn of the event loop]. */
  readonly gather?: () => Promise<void>;
}

interface Waiting<Request, Answer> {
  readonly request: Request;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

// Beyond some hundred an fsync more or less is nothing.
const largestGroup = 512;

/**
 * Does what is asked for while the last transaction was under way in the next one, together: a commit waits for the disk,
 * and with a hundred in it costs hardly more than with one. When a group fails, each of it is tried on its own, so that none
 * is lost by another's fault; but not when it is the store that cannot be used or is busy.
 */
export function createGroupCommit<Request, Answer>(
  options: GroupCommitOptions<Request, Answer>,
): (request: Request) => Promise<Answer> {
  // What has arrived with the first of them has not been heard yet.
  const gather = options.gather ?? eventLoopTurn;
  let queue: Waiting<Request, Answer>[] = [];
  let isWriting = false;

  /** The longest front of the queue without a key twice. */
  function takeGroup(): Waiting<Request, Answer>[] {
    const keys = new Set<string>();
    let length = 0;
    for (const { request } of queue) {
      const key = options.keyOf(request);
      if (keys.has(key) || length === largestGroup) break;
      keys.add(key);
      length++;
    }
    const group = queue.slice(0, length);
    queue = queue.slice(length);
    return group;
  }

  async function commit(group: readonly Waiting<Request, Answer>[]): Promise<void> {
    let answers: readonly Answer[];
    try {
      answers = await options.commit(group.map(({ request }) => request));
    } catch (error) {
      if (group.length === 1 || isOfStore(error)) {
        for (const { reject } of group) reject(error);
        return;
      }
      for (const one of group) await commit([one]);
      return;
    }
    for (const [index, { resolve, reject }] of group.entries()) {
      const answer = answers[index];
      if (answer === undefined) reject(new FlatlineError("internal", "a group was answered in part"));
      else resolve(answer);
    }
  }

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (queue.length > 0) {
      await gather();
      await commit(takeGroup());
    }
    isWriting = false;
  }

  return (request) =>
    new Promise((resolve, reject) => {
      queue.push({ request, resolve, reject });
      if (!isWriting) void writeAll();
    });
}

/** Whether the store cannot be used or is busy: then no single request is at fault. */
export function isOfStore(error: unknown): boolean {
  return error instanceof FlatlineError && (error.code.startsWith("store_") || error.code === "unavailable");
}
