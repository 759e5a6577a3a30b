import { DefaultQueryExecutor } from "kysely";
import { describe, expect, it, vi } from "vitest";

import { firingAlert, openIncident } from "../../../test/support/firing-alert.ts";
import { createEventWorld } from "../../../test/support/store/event-store.ts";
import { storeEngines } from "../../../test/support/store/engines.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { actor } from "../../contract/actor.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { AlertingSettings } from "../settings.ts";
import { actOnAlert } from "./alert-acts.ts";
import { actOnIncident, readActFacts, type DoneAct } from "./incident-acts.ts";
import { planAct, type IncidentAct, type IncidentActRequest } from "./plan-act.ts";

const nowMs = Date.UTC(2026, 5, 1);
const author = actor("kim", "token");
const settings = {
  gateOf: () => ({ releaseOn: ["judged"], whenUnknown: "allow" }),
  receivers: [{ name: "ops", minSeverity: "warn", sendResolved: true, sendUnknown: true, match: null, sendActs: true }],
} as unknown as AlertingSettings;
const failure = { atMs: nowMs, releasedAtMs: null };
const acts: readonly IncidentAct[] = [
  { kind: "acknowledge", comment: "on it" },
  { kind: "unacknowledge" },
  { kind: "silence", endsAtMs: nowMs + 3_600_000, comment: "known" },
  { kind: "judge", verdict: "checker", comment: "captcha" },
  { kind: "withdraw" },
  { kind: "release", comment: "opened ten" },
  { kind: "comment", comment: "looked at ten" },
];

describe.each(storeEngines)("on $engine, an act on an incident", ({ useStore }) => {
  const opened = useStore(() => createVirtualClock({ startMs: nowMs }));

  /** An incident of so many failing organizations. An alert of another incident also holds the first gate. */
  async function open(members: number): Promise<Incident> {
    return opened.store.transaction(async ({ alerts, incidents }) => {
      const { number: _number, ...given } = openIncident(nowMs);
      const incident = await incidents.add({ ...given, id: `of-${members}` });
      const of = { id: incident.id, number: incident.number };
      for (let index = 0; index < members; index++)
        await alerts.save(
          firingAlert(`${members}-${index}`, nowMs, { slug: `${members}-org-${index}`, failure, incident: of }),
        );
      const other = await incidents.add({ ...given, id: `beside-${members}` });
      const beside = {
        slug: `${members}-org-0`,
        check: "regret",
        failure,
        incident: { id: other.id, number: other.number },
      };
      await alerts.save(firingAlert(`beside-${members}`, nowMs, beside));
      return incident;
    });
  }

  let ids = 0;
  const newId = (): string => `silence-${ids++}`;

  async function counted(request: IncidentActRequest): Promise<{ done: DoneAct; statements: number }> {
    const execute = vi.spyOn(DefaultQueryExecutor.prototype, "executeQuery");
    const done = await opened.store.transaction((parts) => actOnIncident(parts, { settings, nowMs, newId }, request));
    // The writer renews its row every few seconds, too.
    const statements = execute.mock.calls.filter(([{ sql }]) => !sql.includes("writer")).length;
    execute.mockRestore();
    return { done, statements };
  }

  it(
    "takes the same statements for 3 and for 3,000 members, and does what was foreseen",
    { timeout: 60_000 },
    async () => {
      const few = await open(3);
      const many = await open(3_000);
      for (const act of acts) {
        const request = { act, author, slugs: null };
        const asked = { ...request, incident: many.number };
        const foreseen = planAct(asked, await readActFacts(opened.store, { settings, nowMs }, asked));
        const ofFew = await counted({ ...request, incident: few.number });
        const ofMany = await counted({ ...request, incident: many.number });

        const { done, skipped, gatesOpened, gatesHeld } = foreseen;
        expect(ofMany.done).toMatchObject({ done, skipped, gatesOpened, gatesHeld });
        expect(ofMany.done.done, act.kind).toHaveLength(3_000);
        expect([act.kind, ofMany.statements]).toEqual([act.kind, ofFew.statements]);
        expect(ofMany.statements).toBeLessThanOrEqual(11);
      }
      const members = (await opened.store.incidents.members([many.number])).get(many.number) ?? [];
      expect(members.every((alert) => alert.failure?.releasedAtMs === nowMs)).toBe(true);
      expect(await opened.store.audit.list({ limit: 50_000 })).toHaveLength(acts.length * 3_003);
      expect(await opened.store.silences.endingAfter(nowMs)).toHaveLength(3_003);
      expect((await opened.store.log.commentsOfIncident(many.number)).map(({ act }) => act)).toEqual([
        "acknowledge",
        "silence",
        "judgement",
        "release",
        null,
      ]);
      expect(await opened.store.log.judgementsOf("3000-7")).toMatchObject([{ verdict: "checker" }, { verdict: null }]);
      expect(await opened.store.log.releases("3000-org-7", 9)).toMatchObject([
        { how: "released", comment: "opened ten" },
      ]);
      const failures = await opened.store.gate.failures("3000-org-0");
      expect(new Map(failures.map(({ id, failure }) => [id, failure.releasedAtMs]))).toEqual(
        new Map([
          ["3000-0", nowMs],
          ["beside-3000", null],
        ]),
      );
    },
  );

  it("is told without an organization that is forgotten meanwhile", async () => {
    const { number: incident } = await open(3);
    await counted({ incident, act: { kind: "judge", verdict: "real", comment: null }, author, slugs: null });

    await opened.store.forgetting.forget("3-org-1", 1_000);

    const notices = await opened.store.actNotices.all();
    expect(JSON.stringify(notices)).not.toContain("3-org-1");
    expect(new Set(notices.map(({ slug }) => slug))).toEqual(new Set(["3-org-0", "3-org-2"]));
  });

  it("leaves what was judged apart, unless it is named, and takes back only what it said", async () => {
    const { number: incident } = await open(3);
    const judge = async (verdict: "real" | "checker", slugs: readonly string[] | null = null): Promise<DoneAct> =>
      (await counted({ incident, act: { kind: "judge", verdict, comment: null }, author, slugs })).done;
    const withdraw = async (slugs: readonly string[] | null = null): Promise<DoneAct> =>
      (await counted({ incident, act: { kind: "withdraw" }, author, slugs })).done;
    const heldBeside = { gatesHeld: ["3-org-0"] };
    const apart = [{ slug: "3-org-1", alertId: "3-1", reason: "judged_apart" }];
    const verdicts = async (): Promise<(string | undefined)[]> =>
      ((await opened.store.incidents.members([incident])).get(incident) ?? []).map((alert) => alert.judgement?.verdict);

    await judge("real", ["3-org-1"]);
    expect(await judge("checker")).toMatchObject({ done: [{ slug: "3-org-0" }, { slug: "3-org-2" }], skipped: apart });
    // A judgement of the whole incident replaces an earlier one of it.
    expect(await judge("real")).toMatchObject({ done: [{}, {}], skipped: apart, ...heldBeside });
    expect(await withdraw()).toMatchObject({ done: [{}, {}], skipped: apart });
    expect(await verdicts()).toEqual([undefined, "real", undefined]);
    // By name they are judged as a whole again.
    await judge("checker", ["3-org-0", "3-org-1", "3-org-2"]);
    expect(await judge("checker")).toMatchObject({
      done: [],
      skipped: [{}, {}, {}].map(() => ({ reason: "already" })),
    });
    await withdraw();
    expect(await verdicts()).toEqual([undefined, undefined, undefined]);
  });
});

/** Both alerts of a check may live at once: its verdict, and that it gives no result. */
const [verdict, noResult] = [
  firingAlert("verdict", nowMs, { check: "event-flow" }),
  firingAlert("no-result", nowMs, { check: "event-flow", kind: "unknown" }),
];

it("is one silence of a check, whichever of its alerts are members", () => {
  const act = { kind: "silence", endsAtMs: nowMs + 3_600_000, comment: "known" } as const;
  const incident = openIncident(nowMs, { family: "no-events" });
  const facts = { incident, members: [verdict, noResult], others: [], told: null, silences: [], settings, nowMs };

  const { done, skipped } = planAct({ incident: incident.number, act, author, slugs: null }, facts);

  expect([done, skipped]).toEqual([
    [{ slug: "acme", alertId: "verdict" }],
    [{ slug: "acme", alertId: "no-result", reason: "already" }],
  ]);
});

it.each(["judge", "withdraw"] as const)("of one alert refuses to %s what is not judged", async (kind) => {
  const act = kind === "judge" ? ({ kind, verdict: "checker", comment: null } as const) : { kind };
  await using world = await createEventWorld();
  const { number: _number, ...given } = openIncident(nowMs, { family: "no-events" });
  const incident = await world.store.incidents.add(given);
  await world.store.alerts.save({ ...noResult, incident: { id: incident.id, number: incident.number } });
  const request = { alertId: "no-result", act, author };

  const acted = actOnAlert(world.store, { settings, nowMs, newId: () => "id" }, request);

  await expect(acted).rejects.toMatchObject({ code: "invalid_data" });
});
