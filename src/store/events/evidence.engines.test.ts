import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createWorldOn, death, toCsv } from "../../../test/support/store/event-store.ts";
import { storeEngines } from "../../../test/support/store/engines.ts";
import { dayMs, hourMs, minuteMs } from "../../base/time.ts";

const signal = new AbortController().signal;
const nowMs = Date.UTC(2026, 0, 15, 12);
const window = { afterMs: nowMs - dayMs, untilMs: nowMs };
const before = { afterMs: nowMs - 8 * dayMs, untilMs: nowMs - dayMs };
const query = { slug: "acme", window, baseline: [before] };

describe.each(storeEngines)("on $engine", (engine) => {
  describe("deaths by attribute", () => {
    it("are the same from a file and a post, in the window and in the baseline", async () => {
      await using world = await createWorldOn(engine);
      const csv = [
        "at,slug,assetType,attr.reason,attr.checker,count",
        `${nowMs},acme,URL,tls,a,3`,
        `${nowMs - dayMs},acme,URL,tls,,5`,
        `${nowMs - dayMs + 1},acme,URL,,,7`,
        `${nowMs + 1},acme,URL,late,,7`,
        `${nowMs},globex,URL,tls,,7`,
      ].join("\n");
      await world.import([await world.write("events.csv", csv)]);
      await world.store.events.add([
        death(nowMs, "acme", { attributes: { checker: "a", reason: "tls" } }),
        death(nowMs, "acme", { status: "DETECTED_AS_ALIVE", attributes: { reason: "tls" } }),
      ]);

      const counts = await world.store.evidence.attributeCounts(query, { signal });

      expect(counts?.attributedCount).toBe(4);
      expect(counts?.values.toSorted((a, b) => (a.value < b.value ? -1 : 1))).toEqual([
        { attribute: "checker", value: "a", currentCount: 4, baselineCount: 0 },
        { attribute: "reason", value: "tls", currentCount: 4, baselineCount: 5 },
      ]);
    });

    it("where assets count are those of each one's last death, and newly dead is what did not die before", async () => {
      // Few instants and names: assets die again in the window, at one instant, and a window later to the millisecond.
      const event = fc.record({
        atMs: fc.integer({ min: -60, max: 4 }).map((steps) => nowMs + steps * 6 * hourMs),
        assetType: fc.constantFrom("URL", null),
        asset: fc.constantFrom("a", "b", "c", null),
        count: fc.integer({ min: 0, max: 3 }),
        reason: fc.constantFrom("tls", "dns", null),
        status: fc.constantFrom("DETECTED_AS_DEAD", "DETECTED_AS_DEAD", "DETECTED_AS_ALIVE"),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (some) => {
          await using world = await createWorldOn(engine);
          const events = some.map(({ reason, ...rest }) =>
            death(rest.atMs, "acme", { ...rest, ...(reason === null ? {} : { attributes: { reason } }) }),
          );
          await world.store.events.add(events);
          const dead = some
            .filter(({ status, count }) => status === "DETECTED_AS_DEAD" && count > 0)
            .toSorted((left, right) => left.atMs - right.atMs);
          const isSame = (left: (typeof dead)[number], right: (typeof dead)[number]): boolean =>
            left.asset !== null && left.asset === right.asset && left.assetType === right.assetType;
          const weight = ({ asset, count }: (typeof dead)[number]): number => (asset === null ? count : 1);
          const lastOf = ({ afterMs, untilMs }: typeof window) =>
            dead
              .filter(({ atMs }) => atMs > afterMs && atMs <= untilMs)
              .filter((one, index, all) => !all.slice(index + 1).some((later) => isSame(later, one)));
          const sum = (of: typeof dead): number => of.reduce((all, one) => all + weight(one), 0);

          const counts = await world.store.evidence.attributeCounts({ ...query, count: "assets" }, { signal });
          const minutes = await world.store.evidence.newlyDeadMinutes({ slug: "acme", interval: window });

          expect(counts?.attributedCount).toBe(sum(lastOf(window).filter(({ reason }) => reason !== null)));
          for (const value of ["tls", "dns"]) {
            const found = counts?.values.find((one) => one.value === value);
            expect(found?.currentCount ?? 0).toBe(sum(lastOf(window).filter(({ reason }) => reason === value)));
            expect(found?.baselineCount ?? 0).toBe(sum(lastOf(before).filter(({ reason }) => reason === value)));
          }
          const newlyDead = dead.filter(
            (one, index) =>
              one.atMs > window.afterMs &&
              one.atMs <= window.untilMs &&
              !dead.slice(0, index).some((earlier) => isSame(earlier, one) && earlier.atMs > one.atMs - dayMs),
          );
          const minuteOf = ({ atMs }: (typeof dead)[number]): number => Math.floor(atMs / minuteMs) * minuteMs;
          expect(minutes).toEqual(
            Array.from(Map.groupBy(newlyDead, minuteOf), ([atMs, some]) => ({ atMs, deaths: sum(some) })),
          );
        }),
        { numRuns: 8 },
      );
    });
  });

  describe("events of assets", () => {
    it("come page by page in the order of time, without those that say nothing of an asset's life", async () => {
      await using world = await createWorldOn(engine);
      const status = (index: number): string => ["DETECTED_AS_DEAD", "DETECTED_AS_ALIVE", "SKIPPED"][index % 3] ?? "";
      const events = Array.from({ length: 15_000 }, (_, index) =>
        death(nowMs - (index % 5_000), "acme", { asset: `a${index}`, status: status(index) }),
      );
      await world.import([await world.write("events.csv", toCsv([...events, death(nowMs, "acme")]))]);

      const found = [];
      let page = await world.store.evidence.assetEvents({
        slug: "acme",
        interval: { afterMs: nowMs - 4_000, untilMs: nowMs - 1 },
        after: null,
      });
      while (page.length > 0) {
        found.push(...page);
        page = await world.store.evidence.assetEvents({
          slug: "acme",
          interval: { afterMs: nowMs - 4_000, untilMs: nowMs - 1 },
          after: page.at(-1) ?? null,
        });
      }

      const wanted = events.filter((one) => one.atMs > nowMs - 4_000 && one.atMs < nowMs && one.status !== "SKIPPED");
      expect(found).toHaveLength(wanted.length);
      expect(new Set(found.map(({ asset }) => asset))).toEqual(new Set(wanted.map(({ asset }) => asset)));
      expect(found.map(({ atMs }) => atMs)).toEqual(found.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
      expect(found.filter(({ isDeath }) => isDeath)).toHaveLength(
        wanted.filter((one) => one.status === "DETECTED_AS_DEAD").length,
      );
    });
  });

  describe("the minutes of deaths", () => {
    it("are those of an interval", async () => {
      await using world = await createWorldOn(engine);
      await world.store.events.add([
        death(nowMs - 61 * minuteMs, "acme"),
        death(nowMs - 59 * minuteMs, "acme", { count: 2 }),
        death(nowMs - 58 * minuteMs, "acme"),
        death(nowMs, "acme", { assetType: "URL" }),
        death(nowMs + minuteMs, "acme"),
      ]);
      const interval = { afterMs: nowMs - hourMs, untilMs: nowMs };

      expect(await world.store.evidence.deathMinutes({ slug: "acme", interval })).toEqual([
        { atMs: nowMs - 59 * minuteMs, deaths: 2 },
        { atMs: nowMs - 58 * minuteMs, deaths: 1 },
        { atMs: nowMs, deaths: 1 },
      ]);
    });
  });

  describe("the version of the events", () => {
    it("changes with each post and import", async () => {
      await using world = await createWorldOn(engine);
      const versions = [await world.store.evidence.eventsVersion()];
      await world.store.events.add([death(nowMs, "acme")]);
      versions.push(await world.store.evidence.eventsVersion());
      await world.import([await world.write("events.csv", toCsv([death(nowMs, "acme")]))]);
      versions.push(await world.store.evidence.eventsVersion(), await world.store.evidence.eventsVersion());

      expect(new Set(versions).size).toBe(3);
      expect(versions[2]).toBe(versions[3]);
    });
  });
});
