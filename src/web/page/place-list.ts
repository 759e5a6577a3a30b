import type { Place } from "../../contract/v1/places.ts";
import type { PageModel } from "./overview/overview-model.ts";
import { organizationPath, shownSeverity } from "./overview/row.ts";
import { pages } from "./parts/layout.ts";

import type { PageOrganization } from "./ports.ts";

/** Everything that the dialog *Go to* leads to: organizations, live alerts, pages, settings. */
export function listPlaces(model: PageModel, organizations: readonly PageOrganization[]): Place[] {
  const alerts = [...model.snapshots.values(), ...[...model.others.values()].flat()].flatMap(
    ({ alerts: live }) => live,
  );
  const settings = new Set(organizations.flatMap((one) => one.settings.map(({ name }) => name)));
  return [
    ...model.rows.map((row): Place => ({
      name: row.slug,
      href: organizationPath(row.slug),
      kind: "organization",
      severity: shownSeverity(row),
      words: row.labels,
    })),
    ...alerts.map(({ id, slug, check, severity }): Place => ({
      name: slug,
      href: `/alerts/${encodeURIComponent(id)}`,
      kind: "alert",
      severity,
      words: [check, id],
    })),
    ...pages.map(({ name, href }): Place => ({ name, href, kind: "page", severity: null, words: [] })),
    ...[...settings].map((name): Place => ({
      name,
      href: `/config?q=${encodeURIComponent(name)}`,
      kind: "setting",
      severity: null,
      words: [],
    })),
  ];
}
