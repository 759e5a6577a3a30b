import { expect, it } from "vitest";

import { dayMs, hourMs } from "../base/time.ts";
import type { HistoryEvent } from "../store/events/events.ts";
import { causeOfIncident } from "./cause.ts";
import { EventRecorder } from "./event-record.ts";
import type { ReplayedIncident } from "./incidents.ts";
import { advice } from "./tuning.ts";
import type { Watched } from "./replay.ts";

const firedAtMs = Date.UTC(2026, 1, 10);
const watched: Watched = {
  slug: "acme",
  ...advice,
  count: "deaths",
  policy: { forMs: 0, keepFiringForMs: 0, unknownAfter: 1, repeatIntervalMs: 0, minBaselineCoverage: 0 },
  maxSilenceMs: null,
  schedule: { pattern: "0 * * * *", timezone: "UTC", jitterMs: 0 },
};

/** Ten deaths a day before, and sixty in the hour before the alert: each event as `usual` and `last` say. */
function causeOf(usual: Partial<HistoryEvent>, last: (index: number) => Partial<HistoryEvent>, told = ["firing"]) {
  const recorder = new EventRecorder("acme");
  const death = { status: "DETECTED_AS_DEAD", count: 1, typeId: 1, asset: null };
  for (let day = 1; day < 35; day++)
    for (let index = 0; index < 10; index++)
      recorder.add({ ...death, atMs: firedAtMs - day * dayMs - hourMs, ...usual });
  for (let index = 0; index < 60; index++) {
    const event = { ...death, atMs: firedAtMs - hourMs, asset: `a${index}`, ...last(index) };
    recorder.add(event);
    // Half an hour after the alert half of them live again.
    const alive = { ...event, status: "DETECTED_AS_ALIVE", atMs: firedAtMs + hourMs / 2 };
    if (index % 2 === 0) recorder.add(alive);
  }
  const incident = {
    family: "deaths",
    isOneCause: false,
    told: told.map((event, hour) => ({ slug: "acme", alertId: "acme-1", event, atMs: firedAtMs + hour * hourMs })),
  } as unknown as ReplayedIncident;
  return causeOfIncident(incident, { organizations: [{ watched }] }, new Map([["acme", recorder.finish()]]));
}

const because = (reason: string) => ({ attributes: JSON.stringify({ reason }) });
const usual = because("gone");

it("is the checker where most deaths share a value that few usually have", () => {
  expect(causeOf(usual, (index) => because(index < 50 ? "captcha" : "gone"))).toMatchObject({
    likelyCause: "checker",
    carrier: { key: "reason", value: "captcha", share: 50 / 60, usualShare: 0 },
    foundAlive: 0,
  });
});

it("is the assets where the deaths are as usual", () => {
  expect(causeOf(usual, () => usual)).toMatchObject({ likelyCause: "assets", carrier: null });
});

it("is the checker where assets were found alive by the last notification that an alert got worse", () => {
  expect(causeOf({}, () => ({}), ["firing", "escalated"])).toMatchObject({ likelyCause: "checker", foundAlive: 30 });
  expect(causeOf({}, () => ({}), ["firing", "deescalated", "resolved"])).toMatchObject({
    likelyCause: "unclear",
    foundAlive: 0,
  });
});

it("is unclear where attributes are unknown, and where they are so many that they are no categories", () => {
  expect(causeOf({}, () => ({}))).toMatchObject({ likelyCause: "unclear", carrier: null });
  const recorder = new EventRecorder("acme");
  for (let index = 0; index < 50_002; index++)
    recorder.add({ atMs: index, status: "DETECTED_AS_DEAD", count: 1, typeId: 0, asset: null, ...because(`${index}`) });
  expect(recorder.finish().sets).toBeNull();
});
