import type { DeathsQuery, LivenessCounts } from "../contract/liveness-counts.ts";

interface Gathered {
  readonly queries: DeathsQuery[];
  readonly answers: ReturnType<LivenessCounts["deaths"]>;
}

/**
 * Asks once for all who ask in the same turn: checks that are due together begin together, and for each question the store
 * takes a snapshot and reads what has changed. When that fails, each asks for itself. `turnEnds` says when all have asked
 * [the microtasks that wait are over]; requests over HTTP come in the same turn of the event loop, each with its own microtasks.
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
