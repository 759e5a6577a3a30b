import type { DeathsQuery, LivenessCounts } from "../contract/liveness-counts.ts";

interface Gathered {
  readonly queries: DeathsQuery[];
  readonly answers: ReturnType<LivenessCounts["deaths"]>;
}

/**
 * Collects the queries of one turn and sends them as one, because each query takes a snapshot and reads the journal of
 * changes. After an error each caller's query is sent alone. `turnEnds` resolves when all have asked [after the pending
 * microtasks]; HTTP requests arrive in the same turn of the event loop, each in a microtask of its own.
 */
export function gatherDeaths(
  counts: Pick<LivenessCounts, "deaths">,
  turnEnds: () => Promise<void> = () => Promise.resolve(),
): Pick<LivenessCounts, "deaths"> {
  let gathering: Gathered | null = null;

  function gather(): Gathered {
    const queries: DeathsQuery[] = [];
    const ask = (): ReturnType<LivenessCounts["deaths"]> => {
      gathering = null;
      return counts.deaths(queries);
    };
    return { queries, answers: turnEnds().then(ask) };
  }

  return {
    deaths: async (queries, options) => {
      gathering ??= gather();
      const { queries: all, answers } = gathering;
      const first = all.length;
      all.push(...queries);
      try {
        return (await answers).slice(first, first + queries.length);
      } catch {
        return counts.deaths(queries, options);
      }
    },
  };
}
