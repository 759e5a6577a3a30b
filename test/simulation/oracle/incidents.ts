import { minuteMs } from "../../../src/base/time.ts";
import type { Facts } from "./facts.ts";

/** As `GET /api/v1/alerts` lists it. */
export interface IncidentAlert {
  readonly id: string;
  readonly slug: string;
  readonly check: string;
  readonly kind: string;
  readonly state: string;
  readonly firingAt: string | null;
  readonly incidentNumber: number | null;
}

/** The first alert that was seen of an incident. */
interface Opened {
  readonly family: string;
  readonly firstAtMs: number;
  /** By the monotonic clock. */
  readonly seenAtMs: number;
}

const withinMs = 30 * minuteMs;

/** What began together belongs together, and stays so (CONTRACT 15), worked out of what the API lists every ten minutes. */
export class IncidentOracle {
  readonly #facts: Facts;
  readonly #incidentOf = new Map<string, number>();
  readonly #opened = new Map<number, Opened>();
  /** When none of an incident's alerts was seen to fire any more, by the monotonic clock. */
  readonly #overAtMs = new Map<number, number>();

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  compare(alerts: readonly IncidentAlert[]): void {
    const firing = alerts.filter(({ state }) => state === "firing");
    const inOrder = firing.toSorted(
      (left, right) => Date.parse(left.firingAt ?? "") - Date.parse(right.firingAt ?? ""),
    );
    for (const alert of alerts)
      if (alert.state === "pending" && alert.incidentNumber !== null)
        this.#facts.violate(`${alert.id} (${alert.slug}) is pending, and of incident ${alert.incidentNumber}`);
    const open = new Set(firing.map(({ incidentNumber }) => incidentNumber ?? 0));
    for (const alert of inOrder) this.#look(alert, open);
    for (const number of this.#opened.keys())
      if (!open.has(number) && !this.#overAtMs.has(number)) this.#overAtMs.set(number, this.#facts.monotonicMs);
  }

  #look({ id, slug, check, kind, firingAt, incidentNumber }: IncidentAlert, open: ReadonlySet<number>): void {
    if (incidentNumber === null) return this.#facts.violate(`${id} (${slug}) fires, and is of no incident`);
    const before = this.#incidentOf.get(id);
    if (before !== undefined && before !== incidentNumber)
      this.#facts.violate(`${id} (${slug}) went from incident ${before} to ${incidentNumber}`);
    if (before !== undefined) return;
    this.#incidentOf.set(id, incidentNumber);
    // An alert of kind unknown is of one of two families, as its error has it.
    const family = kind === "unknown" ? "unknown" : check === "sentinel" ? "dead-asset-spike" : check;
    const atMs = Date.parse(firingAt ?? "");
    if (this.#overAtMs.has(incidentNumber))
      this.#facts.violate(`${id} (${slug}) joined incident ${incidentNumber}, which was over`);
    const known = this.#opened.get(incidentNumber);
    if (known !== undefined) {
      if (known.family !== family)
        this.#facts.violate(`${id} (${slug}) is of ${family}, and incident ${incidentNumber} of ${known.family}`);
      return;
    }
    const newest = [...this.#opened].filter(([number, one]) => one.family === family && open.has(number)).at(-1);
    const { monotonicMs, world } = this.#facts;
    this.#opened.set(incidentNumber, { family, firstAtMs: atMs, seenAtMs: monotonicMs });
    // Between two looks the newest one may have ended and this one be another; and clocks are set.
    if (newest === undefined || family === "unknown" || world.clockSetAtMs > newest[1].seenAtMs) return;
    if (atMs >= newest[1].firstAtMs && atMs - newest[1].firstAtMs <= withinMs)
      this.#facts.violate(`${id} (${slug}) opened incident ${incidentNumber} beside ${newest[0]}, which it joins`);
  }
}
