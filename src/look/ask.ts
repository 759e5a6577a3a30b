import type { Clock } from "../base/time.ts";
import { secondMs } from "../base/time.ts";
import type { LookAnswer } from "../contract/second-opinion.ts";
import type { LookedAt } from "../store/alerts/looks.ts";
import type { Planned } from "./plan.ts";
import type { ProbeResult } from "./prober/exchange.ts";
import type { Prober } from "./prober/prober.ts";
import type { LookSettings } from "./settings.ts";

// CONTRACT 16: two at once, one new per second.
const mostAtOnce = 2;
const pauseMs = secondMs;

export interface AskOptions {
  readonly settings: LookSettings;
  readonly prober: Pick<Prober, "probe">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Asks the verifier about all of these at once; by asset. Never rejects. */
  readonly verify: (assets: readonly Planned[]) => Promise<ReadonlyMap<string, LookAnswer>>;
  /** Called with each answer as it comes, and its place in the plan. */
  readonly onAnswer: (place: number, answer: LookedAt) => Promise<void>;
}

const notProbed: ProbeResult = { answer: "undecided", status: null, title: null, bytes: null, reason: null };
// A rule refused it: the verifier is not asked to go where flatline must not.
const refusals: readonly ProbeResult["reason"][] = ["name", "address", "port"];

/**
 * Asks all that is planned: by DNS and HTTP one after the other, then the verifier about what these left undecided. Ends early
 * when the signal aborts.
 */
export async function askAll(plan: readonly Planned[], options: AskOptions): Promise<void> {
  const { settings, prober, clock, signal, verify, onAnswer } = options;
  const { http, dns } = settings;
  const hasVerifier = settings.verifier !== null || settings.recorded !== null;
  const left: { readonly place: number; readonly asset: Planned; readonly result: ProbeResult }[] = [];

  async function ask(place: number, asset: Planned): Promise<void> {
    const { urls, isPersonal } = asset.target;
    const isDnsOnly = http === null || isPersonal;
    const result = http === null && dns === null ? notProbed : await prober.probe({ urls, isDnsOnly });
    if (signal.aborted) return;
    const mayVerify = hasVerifier && !isPersonal && !refusals.includes(result.reason);
    if (mayVerify && result.answer === "undecided") left.push({ place, asset, result });
    else await onAnswer(place, answerOf(asset, result, settings));
  }

  const running = new Set<Promise<void>>();
  for (const [place, asset] of plan.entries()) {
    if (place > 0 && (http !== null || dns !== null)) await clock.sleep(pauseMs, signal);
    while (running.size >= mostAtOnce) await Promise.race(running);
    if (signal.aborted) break;
    const asked = ask(place, asset).finally(() => running.delete(asked));
    running.add(asked);
  }
  await Promise.all(running);
  if (left.length === 0 || signal.aborted) return;
  const verified = await verify(left.map(({ asset }) => asset));
  for (const { place, asset, result } of left) {
    if (signal.aborted) return;
    await onAnswer(place, answerOf(asset, { ...result, answer: verified.get(asset.asset) ?? "undecided" }, settings));
  }
}

function answerOf(
  { slug, asset, assetType, role, target }: Planned,
  { answer, status, title, bytes }: ProbeResult,
  { http, verifier, recorded }: LookSettings,
): LookedAt {
  const isAsked = !target.isPersonal && (http !== null || verifier !== null || recorded !== null);
  return { slug, asset, assetType, role, answer, status, title, bytes, isAsked };
}
