import type { FastifyInstance, FastifyRequest } from "fastify";

import { slugsOf } from "../../../alerting/incident-summary.ts";
import type { ByteBudget } from "../../../base/request-body.ts";
import { seesDetails } from "../../access/identity.ts";
import { paramsOf } from "../../answer.ts";
import { countOf } from "../../../words/numbers.ts";
import { nothing, type Html } from "../../parts/html.ts";
import { chartOfIncident, readAnswersChart, readDeathsChart } from "../../read/chart.ts";
import { renderChart } from "../chart.ts";
import { renderDeadAssets } from "../dead-assets.ts";
import { renderAbout } from "../organization/about.ts";
import { chartActsOf } from "./story.ts";
import { withoutReceiverNames, type IncidentDetail, type IncidentReading } from "../../read/incidents.ts";
import type { AlertAssets } from "../../read/alert-assets.ts";
import { readOrganization, type OrganizationSources } from "../../read/organization.ts";
import { missingIncident, type Site } from "../site.ts";
import { addActDialogs } from "./dialogs.ts";
import { incidentTitle, renderIncident } from "./incident.ts";
import { renderIncidents } from "./list.ts";
import { addLookDialog } from "./opinion.ts";

export interface IncidentPageRoutes extends OrganizationSources {
  readonly site: Site;
  readonly incidents: IncidentReading;
  readonly alertAssets: Pick<AlertAssets, "costOf">;
  readonly bodies: ByteBudget;
}

// More than a person reads; older ones follow on a page of their own.
const mostListed = 100;

/** `/incidents`, `/incidents/N`, and the dialogs of its acts. */
export function addIncidentPages(scope: FastifyInstance, routes: IncidentPageRoutes): void {
  const { site, running, incidents, alertAssets, bodies } = routes;
  const addPage = site.pagesOf(scope);

  addPage("/incidents", "public", async (request, reply) => {
    const params = paramsOf(request);
    const before = Number(params.get("before"));
    const { nowMs, open, unfinished } = await running.fleet();
    const page = await incidents.list({ state: "all", limit: mostListed, ...(before > 0 ? { before } : {}) });
    // What is open or not finished is shown however old it is.
    const waiting = new Set(before > 0 ? [] : [...open.map(({ number }) => number), ...unfinished.incidents]);
    for (const { incident } of page.incidents) waiting.delete(incident.number);
    const list = {
      nowMs,
      incidents: [...page.incidents, ...(await incidents.ofNumbers(waiting))],
      unfinished,
      withPeople: seesDetails(request),
      next: page.next,
    };
    return site.send(request, reply, {
      title: "Incidents · flatline",
      current: "incidents",
      isLive: true,
      main: renderIncidents(list, params),
    });
  });

  addPage("/incidents/:id", "public", async (request, reply) => {
    const page = await find(request);
    if (page === null) return site.sendMissing(request, reply, missingIncident(referenceOf(request)));
    const params = paramsOf(request);
    const ticked = new Set(params.getAll("slug"));
    params.delete("slug");
    const main = renderIncident(page, {
      params,
      ticked,
      withPeople: seesDetails(request),
      cost: await alertAssets.costOf(page.members),
      chart: await chartOf(page, params, request),
      organization: await organizationOf(page, request),
      deadAssets: seesDetails(request)
        ? await renderDeadAssets(running, page.members, `/api/v1/incidents/${page.incident.number}/assets?format=sheet`)
        : nothing,
    });
    const { severity } = page.summary;
    const shown = page.incident.endedAtMs === null ? { severity } : {};
    return site.send(request, reply, {
      title: incidentTitle(page),
      current: "incidents",
      isLive: true,
      ...shown,
      main,
    });
  });

  async function chartOf(page: IncidentDetail, params: URLSearchParams, request: FastifyRequest): Promise<Html> {
    const { number, family } = page.incident;
    const acts = chartActsOf(page, seesDetails(request));
    const slugs = [...slugsOf(page.members)];
    const ask = { ...chartOfIncident(page), params, acts };
    const path = `/incidents/${number}`;
    if (family === "unreachable")
      return renderChart(await readAnswersChart(running, { ...ask, subject: running.source() }, slugs), path, params);
    if (ask.members.length === 0) return nothing;
    const [only = ""] = slugs;
    const subject = slugs.length === 1 ? only : `the ${countOf(slugs.length, "organization")}`;
    return renderChart(await readDeathsChart(running, { ...ask, subject }), path, params);
  }

  async function organizationOf(page: IncidentDetail, request: FastifyRequest): Promise<Html> {
    const [member] = page.members;
    if (member === undefined || page.headline.alone === null) return nothing;
    const facts = await readOrganization(routes, member.slug, { withDetails: seesDetails(request) });
    return facts === null ? nothing : renderAbout(facts);
  }

  function referenceOf(request: FastifyRequest): string {
    return (request.params as { readonly id: string }).id;
  }

  async function find(request: FastifyRequest): Promise<IncidentDetail | null> {
    const page = await incidents.find(referenceOf(request));
    return page === null || seesDetails(request) ? page : withoutReceiverNames(page);
  }

  addActDialogs(scope, { site, incidents, find, bodies });
  addLookDialog(scope, routes);
}
