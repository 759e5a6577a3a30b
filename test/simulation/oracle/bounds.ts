import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { dayMs, hourMs } from "../../../src/base/time.ts";
import { receiverNames, slugs } from "../fleet.ts";
import { countRows, deadLetters, waiting } from "../rows.ts";
import type { Saying } from "../people.ts";
import type { Batch } from "../stream.ts";
import type { Episodes } from "./episodes.ts";
import type { Facts } from "./facts.ts";

const organizations = slugs.length;
const receivers = receiverNames.length;
/** Alerts have at most two kinds. */
const mostLive = 2 * organizations;
/** The past that is filled in at a start from events, with the hours around it. */
const backfilledHours = 7 * 24 + 2;

// What it begins with, sums and boards, is loaded by then.
const firstWeighedAfterMs = 6 * hourMs;
// What is under way takes some of it, and code that V8 has compiled meanwhile: 44 lives of three days ended with up to
// 11 MiB more. They have some ten thousand runs: a leak of two kilobytes a run is seen.
const mostGrowthBytes = 16 * 2 ** 20;
// Events, what receivers have accepted and the oracle's own notes are never dropped: 19 MiB in ten days.
const rememberedBytesPerDay = 2 * 2 ** 20;
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What rows may come from: all of it was seen from outside. */
interface Causes {
  readonly runs: number;
  readonly wallHours: number;
  readonly fired: number;
  readonly sayings: number;
  readonly incidents: number;
  readonly attempts: number;
  readonly refused: number;
  readonly batches: number;
  readonly events: number;
}

const ofService =
  "api_keys assets brands organizations proposals reports reviews scans legitimacy_domains legitimacy_rules";
/** Tables that stay empty: of the embedded service and of discovery. */
const unused = [...ofService.split(" "), "discovery_lists"];

/** The most rows of each table at any time. */
function boundsOf(causes: Causes): Readonly<Record<string, number>> {
  const { runs, wallHours, fired, sayings, incidents, attempts, refused, batches, events } = causes;
  const hours = wallHours + backfilledHours;
  return {
    // Numbers of what is configured.
    schema_version: 1,
    checks: organizations,
    writer: 1,
    receiver_pauses: receivers,
    // The history: each run of the last days, a row for each check and hour, a report where something changed.
    runs: runs + organizations * backfilledHours,
    run_hours: organizations * hours,
    check_reports: runs + organizations * hours,
    // Alerts, and what was done with them.
    alerts: mostLive + fired,
    queued_alerts: receivers * (mostLive + fired),
    alert_notified: receivers * fired,
    // Each has an alert; those without one go within the hour, as do days of more than four weeks ago.
    queued_incidents: receivers * fired,
    receiver_messages: receivers * fired,
    incidents: fired,
    // No second opinion is configured: it would ask the network.
    looks: 0,
    look_answers: 0,
    // A judgement, a comment and a release.
    alert_log: fired + 3 * sayings,
    // Of each alert of an act; and a gate opens by an act, or with the end of an alert.
    act_notices: fired + organizations * sayings,
    silences: incidents + sayings,
    markers: 0,
    fleets: wallHours,
    audit: incidents + sayings + batches,
    outside_acts: 0,
    sessions: 0,
    // Notifications.
    [waiting]: runs + sayings,
    [deadLetters]: refused,
    deliveries: attempts,
    // Events.
    event_slugs: organizations,
    event_asset_types: 4,
    event_statuses: 4,
    event_attribute_sets: 0,
    event_counter: 1,
    // The one that is under way.
    event_imports: 1,
    event_import_slugs: organizations,
    events,
    event_minutes: events,
    event_hours: events,
    // Since when the fleet is watched, when a gate was asked for, and until when retention has deleted.
    meta: 3,
    ...Object.fromEntries(unused.map((table) => [table, 0])),
  };
}

/**
 * That memory stays level, that rows are bounded by what is configured and what happened, and that what waits is empty
 * when everything has arrived.
 */
export class BoundOracle {
  readonly #facts: Facts;
  readonly #episodes: Episodes;
  readonly #path: string;
  #batches = 0;
  /** The last one, which is sent again until it was taken. */
  #batch: Batch | null = null;
  #events = 0;
  #sayings = 0;
  #firstWallMs = Infinity;
  #lastWallMs = -Infinity;
  #counts: ReadonlyMap<string, number> = new Map();
  #countedAtMs = -Infinity;
  #weighedAtMs = firstWeighedAfterMs - dayMs;
  /** Some hours after the first start. */
  #firstHeapBytes: number | null = null;
  #isHeavy = false;

  constructor(facts: Facts, episodes: Episodes, path: string) {
    this.#facts = facts;
    this.#episodes = episodes;
    this.#path = path;
  }

  saying({ alerts }: Saying): void {
    this.#sayings += Math.max(1, alerts.length);
  }

  streamed(batch: Batch, state: "sent" | "taken"): void {
    if (state === "taken") this.#batch = null;
    else if (batch !== this.#batch) {
      this.#batch = batch;
      this.#batches++;
      this.#events += batch.body.split("\n").length - 1;
    }
  }

  /** To be called every minute; counts rows once an hour, and weighs memory once a day. */
  minute(runs: number): void {
    const { nowMs, monotonicMs, world } = this.#facts;
    this.#firstWallMs = Math.min(this.#firstWallMs, nowMs);
    this.#lastWallMs = Math.max(this.#lastWallMs, nowMs);
    if (monotonicMs - this.#weighedAtMs >= dayMs) this.#weigh({ isLast: false });
    if (world.upSinceMs === null || Math.floor(monotonicMs / hourMs) === Math.floor(this.#countedAtMs / hourMs)) return;
    this.#countedAtMs = monotonicMs;
    this.#counts = countRows(this.#path);
    const bounds = boundsOf(this.#causes(runs));
    for (const [table, rows] of this.#counts) {
      const most = bounds[table];
      if (most === undefined) this.#facts.violate(`nothing bounds the rows of ${table}`);
      else if (rows > most) this.#facts.violate(`${table} has ${rows} rows, of ${most} at most`);
    }
  }

  /** To be called when faults have ended long enough ago for everything to have arrived. */
  finish(): void {
    const { nowMs } = this.#facts;
    this.#weigh({ isLast: true });
    // Windows of six hours end with the world.
    const late = this.#episodes.all.filter(({ endsAtMs }) => endsAtMs === null || endsAtMs > nowMs - 2 * hourMs).length;
    const live = this.#counts.get("alerts") ?? 0;
    const atRest = {
      queued_alerts: receivers * (live + late),
      // Of a gate that one of these opens, with the notification of its end.
      act_notices: late,
      [waiting]: receivers * (live + late),
      receiver_pauses: 0,
    };
    for (const [table, most] of Object.entries(atRest)) {
      const rows = this.#counts.get(table) ?? 0;
      if (rows > most) this.#facts.violate(`${table} has ${rows} rows at the end, of ${most} at most`);
    }
  }

  /** What this process holds: one life of the daemon, without what earlier lives left, and its surroundings. */
  #weigh({ isLast }: { readonly isLast: boolean }): void {
    const { monotonicMs } = this.#facts;
    this.#weighedAtMs = monotonicMs;
    // V8 frees buffers beside the program: after one collection alone up to 31 MiB of them were still counted.
    collectGarbage();
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const bytes = heapUsed + arrayBuffers;
    this.#firstHeapBytes ??= bytes;
    const remembered = (monotonicMs / dayMs) * rememberedBytesPerDay;
    const isHeavy = bytes - this.#firstHeapBytes > remembered + mostGrowthBytes;
    if (isHeavy && (this.#isHeavy || isLast))
      this.#facts.violate(`memory grew from ${this.#firstHeapBytes} to ${bytes} bytes`);
    // An import may be under way: what is held for longer is seen again an hour later.
    if (isHeavy) this.#weighedAtMs = monotonicMs - dayMs + hourMs;
    this.#isHeavy = isHeavy;
  }

  #causes(runs: number): Causes {
    const { world } = this.#facts;
    const all = [...world.receivers.values()];
    return {
      runs,
      wallHours: Math.ceil((this.#lastWallMs - this.#firstWallMs) / hourMs) + 2,
      fired: this.#episodes.all.length,
      sayings: this.#sayings,
      incidents: Object.values(world.counts).reduce((sum, count) => sum + count, 0),
      attempts: all.reduce((sum, { attempts }) => sum + attempts, 0),
      refused: all.reduce((sum, { refused }) => sum + refused, 0),
      batches: this.#batches,
      events: this.#events,
    };
  }
}
