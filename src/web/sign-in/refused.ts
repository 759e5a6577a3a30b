import { minuteMs, type Clock } from "../../base/time.ts";

// CONTRACT 13.
const mostPerMinute = 10;
// Refusals of so many addresses are counted: a client with more of them pushes out the oldest, and the memory stays small.
const mostAddresses = 10_000;

/** Counts refused sign-ins of each address. */
export interface RefusedSignIns {
  /** Whether the address had as many within a minute as it may. */
  isOver(address: string): boolean;
  note(address: string): void;
}

/** No sign-in was refused yet. */
export function createRefusedSignIns(clock: Pick<Clock, "monotonicMs">): RefusedSignIns {
  const byAddress = new Map<string, readonly number[]>();
  const recent = (address: string): readonly number[] =>
    (byAddress.get(address) ?? []).filter((atMs) => clock.monotonicMs() - atMs < minuteMs);
  return {
    isOver: (address) => recent(address).length >= mostPerMinute,
    note: (address) => {
      const instants = [...recent(address), clock.monotonicMs()];
      byAddress.delete(address);
      const [oldest] = byAddress.keys();
      if (byAddress.size >= mostAddresses && oldest !== undefined) byAddress.delete(oldest);
      byAddress.set(address, instants);
    },
  };
}
