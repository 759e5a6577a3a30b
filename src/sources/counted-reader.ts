import { asFlatlineError } from "../base/errors.ts";
import type { CountReader } from "./count-reader.ts";

/** Called for each query with its name and `ok` or the code of the error. */
export type OnRequest = (event: { readonly operation: string; readonly code: string }) => void;

/** Wraps the reader so that each query is counted in `flatline_source_requests_total`. */
export function countRequests(reader: CountReader, onRequest: OnRequest): CountReader {
  async function told<Answer>(operation: string, work: Promise<Answer>): Promise<Answer> {
    try {
      const answer = await work;
      onRequest({ operation, code: "ok" });
      return answer;
    } catch (error) {
      onRequest({ operation, code: asFlatlineError(error).code.replace(/^api_/, "") });
      throw error;
    }
  }
  const { firstEvents } = reader;
  return {
    segmentDeaths: (queries, signal) => told("count_deaths", reader.segmentDeaths(queries, signal)),
    firstEvents: firstEvents === null ? null : (slugs, signal) => told("first_events", firstEvents(slugs, signal)),
    close: () => reader.close(),
  };
}
