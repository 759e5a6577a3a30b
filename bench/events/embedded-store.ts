import { createSystemClock, dayMs, hourMs } from "../../src/base/time.ts";
import { openStore } from "../../src/store/open.ts";

// A commit waits for the disk: of more, a fleet of a hundred thousand would be filled no faster.
const organizationsAtOnce = 1_000;
// Evenly over more than a week: what is within the window is no spike against what was before it.
const spanMs = 200 * hourMs;
const check = "dead-asset-spike" as const;
const ok = { severity: "ok", currentCount: 0, baselineCount: 0, expectedCount: 0, rule: null } as const;

/** A new store with so many deaths of each organization in the last 200 hours, and runs in so many of the last hours [one]. */
export async function fillStore(path: string, organizations: number, eventsEach: number, hoursEach = 1): Promise<void> {
  const clock = createSystemClock();
  const store = await openStore({ path, clock });
  const nowMs = clock.nowMs();
  for (let start = 0; start < organizations; start += organizationsAtOnce) {
    const some = Math.min(organizationsAtOnce, organizations - start);
    const events = Array.from({ length: some }, (_, index) => `org-${start + index}`).flatMap((slug) =>
      Array.from({ length: eventsEach }, (_, event) => ({
        slug,
        atMs: nowMs - Math.floor(((event + 0.5) / eventsEach) * spanMs),
        assetType: "URL",
        asset: null,
        status: "DETECTED_AS_DEAD",
        id: null,
        count: 1,
      })),
    );
    await store.transaction((parts) => parts.events.add(events));
    // As one that has run for a while: the past of a new one is evaluated in the background, beside its checks.
    const keys = Array.from({ length: some }, (_, index) => ({ check, slug: `org-${start + index}` }));
    const checkIds = [...(await store.runs.addChecks(keys)).values()];
    for (let hour = 0; hour < hoursEach; hour++) {
      const atMs = nowMs - 8 * dayMs + hour * hourMs;
      const points = [{ ...ok, atMs, evaluatedAtMs: atMs }];
      await store.runs.mergeHours(checkIds.map((checkId) => ({ checkId, hour: Math.floor(atMs / hourMs), points })));
    }
  }
  await store.close();
}
