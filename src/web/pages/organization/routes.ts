import type { FastifyInstance } from "fastify";

import { breakAddresses } from "../../../base/broken-address.ts";
import { FlatlineError } from "../../../base/errors.ts";
import { dayMs } from "../../../base/time.ts";
import { authorOf } from "../../access/identity.ts";
import { countOf } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { chartOfIncident, readDeathsChart } from "../../read/chart.ts";
import type { WebParts } from "../../parts.ts";
import { readOrganization, type OrganizationFacts } from "../../read/organization.ts";
import { renderChart } from "../chart.ts";
import { renderDeadAssets } from "../dead-assets.ts";
import type { PageContent } from "../frame.ts";
import { missing } from "../site.ts";
import { organizationPath } from "../table.ts";
import { renderOrganization } from "./organization.ts";
import { worstOf } from "./sentences.ts";

// Markers of the shortest chart, of an organization that was never in an incident.
const weekMs = 7 * dayMs;

/** `/o/SLUG`, and a run of all its checks. */
export function addOrganizationPages(server: FastifyInstance, parts: WebParts): void {
  const { site, running, alertAssets } = parts;

  site.addPage(server, "/o/:slug", "public", async ({ params: { slug }, search, withDetails }) => {
    const facts = await readOrganization(parts, slug, withDetails);
    if (facts === null) return unknownOrganization(slug);
    const { latestSpike } = facts;
    const main = renderOrganization(facts, {
      chart: await chartOf(facts, search),
      deadAssets:
        withDetails && latestSpike !== null
          ? await renderDeadAssets(alertAssets, [latestSpike], `/api/v1/alerts/${latestSpike.id}/assets?format=sheet`)
          : nothing,
    });
    const severity = worstOf(facts);
    const title = `${severity ?? "waiting"}: ${slug}`;
    return { title, current: "organizations", isLive: true, severity: severity ?? "unknown", main };
  });

  site.addAct(server, "/o/:slug/run", "operate", {
    perform: async ({ request, params: { slug } }) => {
      const states = running.checks.all().filter((state) => state.slug === slug);
      if (states.length === 0) return unknownOrganization(slug);
      const author = authorOf(request);
      let without = 0;
      for (const { check } of states) {
        try {
          const { severity } = await running.runNow(check, slug, author);
          if (severity === "unknown") without++;
        } catch (error) {
          // It runs elsewhere just now, or flatline stops: the others may still run.
          if (!(error instanceof FlatlineError) || error.fault === "bug") throw error;
          without++;
        }
      }
      const left = without === 0 ? "" : `, ${without} without a result`;
      return { did: `${countOf(states.length, "healthcheck")} ran${left}.`, path: organizationPath(slug) };
    },
  });

  async function chartOf(facts: OrganizationFacts, params: URLSearchParams): Promise<Html> {
    const { slug, windowHours, open, nowMs, incidents } = facts;
    const { incident = null, members = [] } = open === null ? {} : chartOfIncident(open.own);
    const fromMs = Math.min(nowMs, ...incidents.map(({ incident: { startedAtMs } }) => startedAtMs)) - weekMs;
    const markers = await running.store.markers.between({ slug, fromMs, toMs: nowMs });
    const data = await readDeathsChart(running, {
      subject: slug,
      params,
      members: members.length > 0 ? members : [{ slug, windowHours, expected: null, beganMs: nowMs }],
      incident: members.length > 0 ? incident : null,
      acts: markers.map(({ atMs, text }) => ({ atMs, mark: "marker", text: `«${breakAddresses(text)}»` })),
    });
    return renderChart(data, organizationPath(slug), params);
  }
}

function unknownOrganization(slug: string): PageContent {
  const text = html`Nobody checks «${slug}». <a href="/">All organizations</a>`;
  return missing("organizations", "No such organization is configured.", text);
}
