import { asFlatlineError, type ErrorCode } from "../../base/errors.ts";
import type { Clock } from "../../base/time.ts";
import { RefusedEvents } from "./read.ts";
import { longestWaitMs, type EventPosts, type PostOutcome } from "./posts.ts";

/** Opens the store of posted events; the signal aborts its work. */
export type OpenPosts = (signal: AbortSignal) => Promise<EventPosts>;

/** Messages to the thread of posts (thread.ts) and its answers. */
export type IngestRequest =
  | {
      readonly kind: "post";
      readonly id: number;
      readonly body: Uint8Array;
      readonly idempotencyKey: string | null;
      readonly organizations: readonly string[] | null;
    }
  | { readonly kind: "close"; readonly id: number };

export type IngestReply =
  | { readonly kind: "posted"; readonly id: number; readonly outcome: PostOutcome }
  | { readonly kind: "closed"; readonly id: number }
  | {
      readonly kind: "failed";
      readonly id: number;
      readonly code: ErrorCode;
      readonly message: string;
      readonly issues: readonly string[];
      /** The refused rows that were found, by reason. */
      readonly refused: RefusedEvents["refused"];
    };

/** Returns what answers the requests of thread.ts: one at a time, in order. The posts are opened for the first of them. */
export function createIngestAnswers(
  openPosts: OpenPosts,
  clock: Clock,
): (request: IngestRequest) => Promise<IngestReply> {
  const stopping = new AbortController();
  let posts: EventPosts | null = null;
  let previous: Promise<unknown> = Promise.resolve();

  async function answer(request: IngestRequest, arrivedAtMs: number): Promise<IngestReply> {
    const { id } = request;
    try {
      if (request.kind === "close") {
        await posts?.close();
        return { kind: "closed", id };
      }
      posts ??= await openPosts(stopping.signal);
      const waitMs = Math.max(longestWaitMs - (clock.monotonicMs() - arrivedAtMs), 0);
      const outcome = await posts.store(request.body, request.idempotencyKey, request.organizations, waitMs);
      return { kind: "posted", id, outcome };
    } catch (error) {
      const { code, message, issues } = asFlatlineError(error);
      return {
        kind: "failed",
        id,
        code,
        message,
        issues,
        refused: error instanceof RefusedEvents ? error.refused : {},
      };
    }
  }

  return (request) => {
    // Aborts the current work, so that it does not delay the stop.
    if (request.kind === "close") stopping.abort();
    const arrivedAtMs = clock.monotonicMs();
    const answered = previous.then(() => answer(request, arrivedAtMs));
    previous = answered;
    return answered;
  };
}
