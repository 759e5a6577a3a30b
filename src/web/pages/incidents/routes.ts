import type { FastifyInstance } from "fastify";

import { slugsOf } from "../../../alerting/incident-summary.ts";
import { countOf } from "../../../words/numbers.ts";
import { nothing, type Html } from "../html.ts";
import { chartOfIncident, readAnswersChart, readDeathsChart } from "../../read/chart.ts";
import { renderChart } from "../chart.ts";
import { renderDeadAssets } from "../dead-assets.ts";
import { renderAbout } from "../organization/organization.ts";
import { chartActsOf } from "./story.ts";
import { forReader, type IncidentDetail } from "../../read/incidents.ts";
import type { WebParts } from "../../parts.ts";
import { readOrganization } from "../../read/organization.ts";
import { missingIncident } from "../site.ts";
import { addActDialogs } from "./dialogs.ts";
import { incidentTitle, renderIncident } from "./incident.ts";
import { renderIncidents } from "./list.ts";

// Nobody reads more; "Older" leads to the next page.
const mostListed = 100;

/** Adds `/incidents`, `/incidents/N` and the dialogs of its acts. */
export function addIncidentPages(server: FastifyInstance, parts: WebParts): void {
  const { site, running, incidents, alertAssets } = parts;

  site.addPage(server, "/incidents", "public", async ({ search, withDetails }) => {
    const before = Number(search.get("before"));
    const { open, unfinished } = await running.fleet();
    const page = await incidents.list({ state: "all", limit: mostListed, ...(before > 0 ? { before } : {}) });
    // The list shows open and unfinished incidents of any age.
    const waiting = new Set(before > 0 ? [] : [...open.map(({ number }) => number), ...unfinished.incidents]);
    for (const { incident } of page.incidents) waiting.delete(incident.number);
    const all = [...page.incidents, ...(await incidents.ofNumbers(waiting))];
    const shown = all.map((one) => forReader(one, withDetails));
    const main = renderIncidents(shown, unfinished, page.next, search);
    return { title: "Incidents · flatline", current: "incidents", isLive: true, main };
  });

  site.addPage(server, "/incidents/:id", "public", async ({ params: { id }, search, withDetails }) => {
    const page = await find(id, withDetails);
    if (page === null) return missingIncident(id);
    const ticked = new Set(search.getAll("slug"));
    search.delete("slug");
    const { number, endedAtMs } = page.incident;
    const main = renderIncident(page, {
      params: search,
      ticked,
      mayRead: withDetails,
      cost: await alertAssets.costOf(page.members),
      chart: await chartOf(page, search),
      organization: await organizationOf(page, withDetails),
      deadAssets: withDetails
        ? await renderDeadAssets(alertAssets, page.members, `/api/v1/incidents/${number}/assets?format=sheet`)
        : nothing,
    });
    const { severity } = page.summary;
    const shown = endedAtMs === null ? { severity } : {};
    return { title: incidentTitle(page), current: "incidents", isLive: true, ...shown, main };
  });

  async function chartOf(page: IncidentDetail, params: URLSearchParams): Promise<Html> {
    const { number, family } = page.incident;
    const acts = chartActsOf(page);
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

  async function organizationOf(page: IncidentDetail, withDetails: boolean): Promise<Html> {
    const [member] = page.members;
    if (member === undefined || page.headline.alone === null) return nothing;
    const facts = await readOrganization(parts, member.slug, withDetails);
    return facts === null ? nothing : renderAbout(facts);
  }

  async function find(id: string, withDetails: boolean): Promise<IncidentDetail | null> {
    const page = await incidents.find(id);
    return page && forReader(page, withDetails);
  }

  addActDialogs(server, parts, find);
}
