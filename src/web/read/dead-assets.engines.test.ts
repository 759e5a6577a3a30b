import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { firingAlert } from "../../../test/support/firing-alert.ts";
import { storeEngines } from "../../../test/support/store/engines.ts";
import { createWorldOn, death, type EventWorld } from "../../../test/support/store/event-store.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { hourMs, minuteMs, secondMs } from "../../base/time.ts";
import { createDeadAssetReading } from "./dead-assets.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const slugs = ["acme", "globex", "hooli", "umbrella"] as const;
const windowHours = 2;

function readingOf({ store }: Pick<EventWorld, "store">): ReturnType<typeof createDeadAssetReading> {
  const clock = createVirtualClock({ startMs: nowMs });
  return createDeadAssetReading({ store, clock, holdsEvents: () => true }, { of: () => Promise.resolve(null) });
}

describe.each(storeEngines)("on $engine, the assets that died in an incident", (engine) => {
  const anyDeath = fc.record({
    slug: fc.constantFrom(...slugs, "other"),
    asset: fc.integer({ min: 0, max: 80 }).map((number) => `https://${number}.example`),
    atMs: fc.integer({ min: -6 * 3_600, max: 600 }).map((seconds) => nowMs + seconds * secondMs),
  });
  const anyEnd = fc.option(
    fc.integer({ min: 0, max: 100 }).map((minutes) => nowMs - minutes * 60 * secondMs),
    { freq: 2 },
  );

  it("are the newest of all its members, each asset of one once", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyDeath, { minLength: 100, maxLength: 400 }),
        fc.tuple(anyEnd, anyEnd, anyEnd, anyEnd),
        async (deaths, ends) => {
          await using world = await createWorldOn(engine);
          await world.store.events.add(deaths.map(({ slug, atMs, asset }) => death(atMs, slug, { asset })));
          const startsAtMs = nowMs - 2 * hourMs;
          const members = slugs.map((slug, index) => ({ slug, untilMs: ends[index] ?? nowMs }));
          const reading = readingOf(world);
          const wanted = new Map<string, number>();
          for (const { slug, asset, atMs } of deaths) {
            const untilMs = members.find((one) => one.slug === slug)?.untilMs ?? -Infinity;
            if (atMs <= startsAtMs - windowHours * hourMs || atMs > untilMs) continue;
            const key = `${slug} ${asset}`;
            wanted.set(key, Math.max(wanted.get(key) ?? 0, atMs));
          }

          const list = await reading.ofAlerts(
            members.map(({ slug, untilMs }) => ({
              alert: firingAlert(slug, startsAtMs, { slug, windowHours }),
              end: untilMs === nowMs ? null : { atMs: untilMs, isByRun: true },
            })),
            { after: null },
          );

          const newest = [...wanted.values()].toSorted((left, right) => right - left).slice(0, 100);
          expect(list?.assets.map(({ deadAtMs }) => deadAtMs)).toEqual(newest);
          for (const { slug, asset, deadAtMs } of list?.assets ?? [])
            expect(deadAtMs).toBe(wanted.get(`${slug} ${asset}`));
          expect(list?.next === null).toBe(wanted.size <= 100);
        },
      ),
      { numRuns: engine.engine === "SQLite" ? 25 : 5 },
    );
  });

  it("are the newest of 150 that died together, though their last minutes have deaths without a name only", async () => {
    await using world = await createWorldOn(engine);
    const many = Array.from({ length: 150 }, (_, index) => `org-${index}`);
    const named = (slug: string, index: number) => death(nowMs - hourMs - index, slug, { asset: `https://${slug}` });
    const unnamed = (slug: string, index: number) => death(nowMs - index, slug);
    await world.store.events.add([...many.map(named), ...many.map(unnamed)]);

    const members = many.map((slug) => ({ alert: firingAlert(slug, nowMs, { slug, windowHours }), end: null }));
    const list = await readingOf(world).ofAlerts(members, { after: null });
    const rest = await readingOf(world).ofAlerts(members, { after: list?.next ?? null });

    expect([list, rest].map((page) => page?.assets.map(({ slug }) => slug))).toEqual([
      many.slice(0, 100),
      many.slice(100),
    ]);
    expect(list?.count).toBe(300);
  });

  it("are the newest where thousands of deaths have no name", async () => {
    await using world = await createWorldOn(engine);
    const many = Array.from({ length: 110 }, (_, index) => `org-${index}`);
    const unnamed = many
      .slice(0, 100)
      .flatMap((slug) => Array.from({ length: 60 }, (_, minute) => death(nowMs - minute * minuteMs, slug)));
    const named = (hours: number) =>
      many.map((slug, index) => death(nowMs - hours * hourMs - index, slug, { asset: `${hours} h ago` }));
    await world.store.events.add([...unnamed, ...named(2), ...named(10)]);
    const members = many.map((slug) => ({ alert: firingAlert(slug, nowMs, { slug, windowHours: 12 }), end: null }));

    const read: string[] = [];
    for (let after: string | null = null, page = 0; page < 3; page++) {
      const list = await readingOf(world).ofAlerts(members, { after });
      read.push(...(list?.assets ?? []).map(({ slug, asset }) => `${slug} ${asset}`));
      after = list?.next ?? null;
    }

    expect(read).toEqual([...many.map((slug) => `${slug} 2 h ago`), ...many.map((slug) => `${slug} 10 h ago`)]);
  });
});
