import { createOutbox } from "../alerting/deliver/outbox.ts";
import { createNotifier } from "../alerting/notify/notifier.ts";
import { createSilenceBook } from "../alerting/silence-book.ts";
import { createLooks } from "../look/looks.ts";
import { createAlertAssets } from "../web/read/dead-assets.ts";
import { createAlertSample } from "./evidence/alert-sample.ts";
import { createLookAssets } from "./evidence/look-assets.ts";
import type { Ground, Part } from "./ground.ts";
import type { Runtime } from "./runtime.ts";
import { drainOf } from "./stop-sequence.ts";

/** What becomes of alerts: who is told, and what second opinions say. */
export type Alerting = ReturnType<typeof createAlerting>;

/** Creates the loops that notify and deliver, and what they need. */
export function createAlerting(ground: Ground, runtime: Runtime) {
  const { store, clock, bus, stop } = ground;
  const settings = () => runtime.current().settings;
  const onChange = (): void => void bus.emit("changed");
  const notifier = createNotifier({
    ...ground,
    settings,
    receiverOf: (receiver) => runtime.current().receiverByName.get(receiver) ?? null,
    readSample: createAlertSample(() => runtime.current().config),
    onEnqueued: () => outbox.wake(),
  });
  const outbox = createOutbox({
    ...ground,
    receivers: runtime.current().receivers,
    resend: (receiver) => notifier.resend(receiver),
    onAnswered: () => bus.emit("stored", "else"),
  });
  const alertAssets = createAlertAssets({
    ...ground,
    isOurs: () => runtime.current().config.source.holdsEvents,
    keptForMs: () => runtime.current().config.storage.eventRetentionMs,
  });
  const looks = createLooks({
    ...ground,
    sources: createLookAssets({ evidence: store.evidence, clock }),
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
  return { ...part, loops: { outbox, notifier }, silences, alertAssets, looks };
}
