import { createBatch } from "../base/batch.ts";
import type { DeathsQuery, LivenessCounts } from "../contract/liveness-counts.ts";

/**
 * Collects the queries of one turn and sends them as one, because each query takes a snapshot and reads the journal of
 * changes. `turnEnds` resolves when all have asked [after the pending microtasks]; HTTP requests arrive in the same turn of the
 * event loop, each in a microtask of its own.
 */
export function gatherDeaths(
  counts: Pick<LivenessCounts, "deaths">,
  turnEnds: () => Promise<void> = () => Promise.resolve(),
): Pick<LivenessCounts, "deaths"> {
  const deaths = createBatch({
    gather: turnEnds,
    run: async (asked: readonly (readonly DeathsQuery[])[]) => {
      const answers = await counts.deaths(asked.flat());
      let end = 0;
      return asked.map(({ length }) => answers.slice(end, (end += length)));
    },
  });
  return { deaths };
}
