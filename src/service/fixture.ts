import type { Clock } from "../base/time.ts";
import type { LegitimacyRule } from "../store/platform/legitimacy.ts";
import type { ReportStatement } from "../store/platform/reports.ts";
import type { PlatformStore } from "../store/platform/platform.ts";
import type { Store } from "../store/store.ts";
import { hashKey, keyIdOf } from "./api-keys.ts";
import { invalidFixture, readFixture, type FixtureFile, type FixtureText } from "./fixture-file.ts";
import type { Fixture } from "./fixture-schema.ts";

/** How many of each were inserted or overwritten. */
export interface FixtureCounts {
  readonly organizations: number;
  readonly keys: number;
  readonly assets: number;
  readonly legitimacyRules: number;
  readonly reports: number;
  readonly proposals: number;
}

export interface FixtureImport {
  readonly store: Store;
  readonly clock: Pick<Clock, "nowMs">;
  /** One import: each may refer to what another states. */
  readonly files: readonly FixtureText[];
  /** The configured ones: a fixture may refer to them without stating them, as to those that have events [none]. */
  readonly configured?: readonly string[];
}

/**
 * Imports fixtures, all of them or nothing: upserted by id or name; a proposal that comes again as queued and not resolved is
 * escalated again (CONTRACT 10). @throws invalid_data with every problem as `FILE:LINE:COL: path: message`, too_large
 */
export async function importFixtures({ store, clock, files, configured = [] }: FixtureImport): Promise<FixtureCounts> {
  const read = files.map((file) => readFixture(file));
  return store.transaction(async ({ platform, events }) => {
    // Section by section over all files: what a later one refers to is there by then.
    const organizations = await importOrganizations(read, platform);
    for (const slug of referredSlugs(read)) {
      if (organizations.has(slug)) continue;
      const exists = configured.includes(slug) || (await events.firstEventAtMs(slug)) !== null;
      if (exists) organizations.set(slug, await platform.organizations.upsert({ slug, name: null }));
    }
    const problems: string[] = [];
    await importKeys(read, platform, organizations, clock.nowMs(), problems);
    const changed = await importAssets(read, platform, problems);
    await importRules(read, platform, organizations, problems);
    await importReports(read, platform, organizations, clock.nowMs(), problems);
    if (problems.length > 0) throw invalidFixture(problems);
    await platform.reports.refresh(await platform.reports.withAssets(changed));
    return countAll(read);
  }, importing);
}

// Beside a service that is in use, a large import would never get through if every review undid it.
const importing = { reads: "latest" } as const;

type Organizations = ReadonlyMap<string, number>;

async function importOrganizations(
  files: readonly FixtureFile[],
  platform: PlatformStore,
): Promise<Map<string, number>> {
  const known = new Map<string, number>();
  for (const slug of await platform.organizations.slugs()) {
    const id = await platform.organizations.idOf(slug);
    if (id !== null) known.set(slug, id);
  }
  for (const { slug, name, brands } of files.flatMap(({ fixture }) => fixture.organizations)) {
    const id = await platform.organizations.upsert({ slug, name: name ?? null });
    known.set(slug, id);
    await platform.organizations.upsertBrands(id, brands);
  }
  return known;
}

/** The organizations that keys, rules and reports are of. */
function referredSlugs(files: readonly FixtureFile[]): ReadonlySet<string> {
  const slugs = files.flatMap(({ fixture: { keys, legitimacyRules, reports } }) => [
    ...keys.flatMap(({ organizations }) => organizations),
    ...legitimacyRules.flatMap(({ organization }) => organization ?? []),
    ...reports.map(({ organization }) => organization),
  ]);
  return new Set(slugs);
}

async function importKeys(
  files: readonly FixtureFile[],
  platform: PlatformStore,
  organizations: Organizations,
  nowMs: number,
  problems: string[],
): Promise<void> {
  for (const { fixture, problemAt } of files)
    for (const [index, { key, name, role, organizations: slugs }] of fixture.keys.entries()) {
      for (const [place, slug] of slugs.entries())
        if (!organizations.has(slug))
          problems.push(problemAt(["keys", index, "organizations", place], unknownOrganization(slug)));
      const sha256 = hashKey(key);
      const id = keyIdOf(sha256);
      const named = { id, name: name ?? "fixture", role, organizations: [...new Set(slugs)] };
      await platform.keys.upsert({ ...named, sha256, createdAtMs: nowMs });
    }
}

/** Answers the ids whose type or content may differ from before: reports about them are listed by their type. */
async function importAssets(
  files: readonly FixtureFile[],
  platform: PlatformStore,
  problems: string[],
): Promise<number[]> {
  const ids: number[] = [];
  for (const { fixture, problemAt } of files) {
    const taken = new Set<number>();
    for (const [index, asset] of fixture.assets.entries()) {
      const holder = await platform.assets.holderOf(asset);
      if (holder === null || holder === asset.id) continue;
      taken.add(index);
      problems.push(problemAt(["assets", index, "content"], `asset ${holder} has this type and content already`));
    }
    ids.push(...(await platform.assets.existing(fixture.assets.map(({ id }) => id))));
    await platform.assets.upsert(fixture.assets.filter((_asset, index) => !taken.has(index)));
  }
  return ids;
}

async function importRules(
  files: readonly FixtureFile[],
  platform: PlatformStore,
  organizations: Organizations,
  problems: string[],
): Promise<void> {
  for (const { fixture, problemAt } of files)
    for (const [index, rule] of fixture.legitimacyRules.entries()) {
      const organization = rule.organization ?? null;
      if (organization !== null && !organizations.has(organization)) {
        problems.push(problemAt(["legitimacyRules", index, "organization"], unknownOrganization(organization)));
        continue;
      }
      const domains: LegitimacyRule["domains"] = [
        ...(rule.domains ?? []),
        ...(rule.pattern === undefined ? [] : [rule.pattern]),
      ];
      await platform.legitimacy.upsert({ name: rule.name, isEnabled: rule.enabled, organization, domains });
    }
}

async function importReports(
  files: readonly FixtureFile[],
  platform: PlatformStore,
  organizations: Organizations,
  nowMs: number,
  problems: string[],
): Promise<void> {
  for (const { fixture, problemAt } of files) {
    const { reports } = fixture;
    const assets = await platform.assets.existing([...new Set(reports.flatMap((report) => assetIdsOf(report)))]);
    const homes = await platform.reports.organizationsOf(reports.map(({ id }) => id));
    const parents = await platform.reports.reportsOfProposals(
      reports.flatMap(({ proposals }) => proposals.map(({ id }) => id)),
    );
    const before = problems.length;
    for (const [index, report] of reports.entries()) {
      const path = ["reports", index] as const;
      const home = homes.get(report.id) ?? report.organization;
      if (!organizations.has(report.organization))
        problems.push(problemAt([...path, "organization"], unknownOrganization(report.organization)));
      else if (home !== report.organization)
        problems.push(problemAt([...path, "organization"], `report ${report.id} is stored as one of "${home}"`));
      for (const [place, { id, assetId }] of report.proposals.entries()) {
        const parent = parents.get(id) ?? report.id;
        if (parent !== report.id)
          problems.push(problemAt([...path, "proposals", place, "id"], `proposal ${id} is stored in report ${parent}`));
        if (!assets.has(assetId))
          problems.push(problemAt([...path, "proposals", place, "assetId"], `there is no asset ${assetId}`));
      }
      for (const [place, { assetId }] of report.scans.entries())
        if (!assets.has(assetId))
          problems.push(problemAt([...path, "scans", place, "assetId"], `there is no asset ${assetId}`));
    }
    if (problems.length > before) continue;
    await platform.reports.upsert(
      reports.map((report) => statementOf(report, organizations)),
      nowMs,
    );
  }
}

type FixtureReport = Fixture["reports"][number];

function assetIdsOf({ proposals, scans }: FixtureReport): number[] {
  return [...proposals, ...scans].map(({ assetId }) => assetId);
}

function statementOf(report: FixtureReport, organizations: Organizations): ReportStatement {
  const { sla, reporter } = report;
  return {
    id: report.id,
    // Checked before: every organization of a report is known.
    organizationId: organizations.get(report.organization) ?? 0,
    createdAtMs: report.createdAt,
    updatedAtMs: report.updatedAt ?? null,
    status: report.status,
    source: report.source,
    country: report.country ?? null,
    title: report.title ?? null,
    reporter: { kind: reporter.kind, name: reporter.name ?? null, organization: reporter.organization ?? null },
    sla: sla === undefined || sla === null ? null : { dueAtMs: sla.dueAt, isBreached: sla.breached ?? null },
    proposals: report.proposals.map(({ resolved, ...proposal }) => ({ ...proposal, isResolved: resolved })),
    scans: report.scans.map(({ at, ...scan }) => ({ ...scan, atMs: at })),
  };
}

function countAll(files: readonly FixtureFile[]): FixtureCounts {
  const total = (count: (fixture: Fixture) => number): number =>
    files.reduce((sum, { fixture }) => sum + count(fixture), 0);
  return {
    organizations: total((fixture) => fixture.organizations.length),
    keys: total((fixture) => fixture.keys.length),
    assets: total((fixture) => fixture.assets.length),
    legitimacyRules: total((fixture) => fixture.legitimacyRules.length),
    reports: total((fixture) => fixture.reports.length),
    proposals: total((fixture) => fixture.reports.reduce((sum, { proposals }) => sum + proposals.length, 0)),
  };
}

function unknownOrganization(slug: string): string {
  return `there is no organization ${JSON.stringify(slug)}`;
}
