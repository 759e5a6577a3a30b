import { createOutbox } from "../alerting/deliver/outbox.ts";
import { createNotifier } from "../alerting/notify/notifier.ts";
import { createSilenceBook } from "../alerting/silence-book.ts";
import { createLooks } from "../look/looks.ts";
import type { ReadSample } from "../alerting/notify/notifier.ts";
import { hourMs } from "../base/time.ts";
import { describeDeath } from "../web/read/dead-assets.ts";
import { createLookAssets } from "./evidence/look-assets.ts";
import type { Ground, Part } from "./ground.ts";
import type { Runtime } from "./runtime.ts";
import { drainOf } from "./stop-sequence.ts";

/** The notifications, silences and second opinions of alerts. */
export type Alerting = ReturnType<typeof createAlerting>;

export function createAlerting(ground: Ground, runtime: Runtime) {
  const { bus, stop } = ground;
  const settings = () => runtime.current().settings;
  const onChange = (): void => void bus.emit("changed");
  const notifier = createNotifier({
    ...ground,
    settings,
    receiverOf: (receiver) => runtime.current().receiverByName.get(receiver) ?? null,
    readSample: createAlertSample(runtime),
    onEnqueued: () => {
      bus.emit("stored", "else");
      outbox.wake();
    },
  });
  const outbox = createOutbox({
    ...ground,
    receivers: runtime.current().receivers,
    resend: (receiver) => notifier.resend(receiver),
    onAnswered: () => bus.emit("stored", "else"),
  });
  const looks = createLooks({
    ...ground,
    sources: createLookAssets(ground),
    settings: () => runtime.current().looks,
    onChange,
  });

  bus.on("changed", () => {
    notifier.wake();
    outbox.wake();
  });
  bus.on("applied", notifier.wake);
  bus.on("stored", (what) => {
    if (what === "alerts") notifier.changed();
  });
  stop.work.add("outbox", (limitMs) => outbox.stop(drainOf(limitMs)), { stores: true });
  stop.work.add("notifier", notifier.stop, { stores: true });
  stop.work.add("second opinions", looks.stop);
  const part: Part = {
    start: () => {
      outbox.start();
      notifier.start();
      looks.start();
    },
    apply: () => outbox.setReceivers(runtime.current().receivers),
  };
  const silences = createSilenceBook({ ...ground, settings, onChange });
  return { ...part, loops: { outbox, notifier }, silences, looks };
}

/**
 * Reads the newest dead assets of the types that carry the excess, for an alert's notifications (CONTRACT 12). The
 * transaction that forms them reads, so that each receiver and each retry gets the same ones.
 */
function createAlertSample(runtime: Runtime): ReadSample {
  return async ({ evidence }, alert, report) => {
    const { source, alerting, organizations } = runtime.current().config;
    const { slug, check, kind, windowHours, startsAtMs } = alert;
    if (!source.holdsEvents || check !== "dead-asset-spike" || kind !== "verdict") return [];
    if (windowHours === undefined || report?.kind !== "result") return [];
    if (organizations.find((organization) => organization.slug === slug)?.sample === false) return [];
    const interval = { afterMs: startsAtMs - windowHours * hourMs, untilMs: Date.parse(report.result.generatedAt) };
    const deaths = await evidence.newestDeaths({
      spans: [{ slug, interval }],
      assetTypes: (report.evidence?.assetTypes ?? []).map(({ assetType }) => assetType),
      limit: alerting.sample,
    });
    if (deaths.length === 0) return [];
    const facts = await evidence.factsOf(deaths);
    return deaths.map((death) => describeDeath(death, facts));
  };
}
