import type { FastifyInstance } from "fastify";

import { escapeUnseen } from "../../base/unseen-text.ts";
import { worstSeverity } from "../../contract/severity.ts";
import type { Place, PlaceList } from "../../contract/v1/places.ts";
import { reaches } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import { sendText } from "../answer.ts";
import type { PageReading } from "../read/page.ts";
import type { IncidentReading } from "../read/incidents.ts";
import type { Running } from "../read/running.ts";
import { addResource } from "../resource.ts";
import { navPages } from "./frame.ts";
import { compareSettings } from "./operator/differences.ts";

export interface PlacesRoute {
  readonly running: Pick<Running, "checks">;
  readonly page: Pick<PageReading, "organizations">;
  readonly incidents: Pick<IncidentReading, "list">;
}

// The newest; older ones are in their list.
const mostIncidents = 100;

/** `/places.json`: what the dialog *Go to or do…* finds. */
export function addPlacesRoute(scope: FastifyInstance, settings: () => AccessSettings, routes: PlacesRoute): void {
  const { running, page, incidents } = routes;
  addResource(scope, "/places.json", settings, {
    GET: {
      access: "public",
      handle: async (request, reply) => {
        const sees = (slug: string): boolean => reaches(request.identity, slug);
        const found = await incidents.list({ state: "all", limit: mostIncidents }, sees);
        const places = [
          ...organizationPlaces(routes, sees),
          ...found.incidents.flatMap(({ incident }) => incidentPlaces(incident)),
          ...navPages.map(({ name, href }) => ({ name, href, kind: "page", severity: null, words: [] })),
          ...settingPlaces(page),
        ];
        const text = escapeUnseen(JSON.stringify({ places } satisfies PlaceList));
        return sendText(request, reply.header("cache-control", "no-store"), "application/json", text);
      },
    },
  });

  function organizationPlaces({ page }: PlacesRoute, sees: (slug: string) => boolean): readonly Place[] {
    const labels = new Map(page.organizations().map((one) => [one.slug, Object.entries(one.labels)]));
    const bySlug = Map.groupBy(running.checks.all(), ({ slug }) => slug);
    return [...bySlug].flatMap(([slug, states]) => {
      if (!sees(slug)) return [];
      const severity = worstSeverity(states.map((state) => state.severity ?? "unknown"));
      const words = (labels.get(slug) ?? []).map(([name, value]) => `${name} ${value}`);
      return [{ name: slug, href: `/o/${encodeURIComponent(slug)}`, kind: "organization", severity, words }];
    });
  }
}

/** An incident, and what one may do about it; never a release. */
function incidentPlaces({
  number,
  endedAtMs,
}: {
  readonly number: number;
  readonly endedAtMs: number | null;
}): Place[] {
  const href = `/incidents/${number}`;
  const name = `Incident ${number}`;
  const acts = endedAtMs === null ? (["Acknowledge", "Judge", "Silence"] as const) : (["Judge"] as const);
  return [
    { name, href, kind: endedAtMs === null ? "open incident" : "incident", severity: null, words: [] },
    ...acts.map((act) => ({
      name: `${act} incident ${number}`,
      href: `${href}/${act.toLowerCase()}`,
      kind: "act",
      severity: null,
      words: [],
    })),
  ];
}

function settingPlaces(page: PlacesRoute["page"]): Place[] {
  const { usual, differences } = compareSettings(page.organizations());
  const names = new Set([...usual.keys(), ...differences.map(({ name }) => name)]);
  return [...names].map((name) => ({
    name,
    href: `/config?q=${encodeURIComponent(name)}`,
    kind: "setting",
    severity: null,
    words: [],
  }));
}
