import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { breakAddresses } from "../../../base/broken-address.ts";
import { FlatlineError } from "../../../base/errors.ts";
import { dayMs } from "../../../base/time.ts";
import { authorOf, seesDetails } from "../../access/identity.ts";
import { paramsOf } from "../../answer.ts";
import { countOf } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { chartOfIncident, readDeathsChart } from "../../read/chart.ts";
import { readOrganization, type OrganizationFacts, type OrganizationSources } from "../../read/organization.ts";
import { renderChart } from "../chart.ts";
import type { ChartAct } from "../../read/chart.ts";
import { renderDeadAssets } from "../dead-assets.ts";
import { renderMessage } from "../frame.ts";
import type { Site } from "../site.ts";
import { organizationPath, renderOrganization } from "./organization.ts";
import { worstOf } from "./sentences.ts";

export interface OrganizationPageRoutes extends OrganizationSources {
  readonly site: Site;
}

// Markers of the shortest chart, of an organization that was never in an incident.
const weekMs = 7 * dayMs;

/** `/o/SLUG`, and a run of all its checks. */
export function addOrganizationPages(scope: FastifyInstance, options: OrganizationPageRoutes): void {
  const { site, running } = options;
  const addPage = site.pagesOf(scope);

  addPage("/o/:slug", "public", async (request, reply) => {
    const facts = await find(request);
    if (facts === null) return sendMissing(request, reply);
    const params = paramsOf(request);
    const withPeople = seesDetails(request);
    const { slug, latestSpike } = facts;
    const path = organizationPath(slug);
    const main = renderOrganization(facts, {
      withPeople,
      chart: await chartOf(facts, path, params),
      deadAssets:
        withPeople && latestSpike !== null
          ? await renderDeadAssets(running, [latestSpike], `/api/v1/alerts/${latestSpike.id}/assets?format=sheet`)
          : nothing,
    });
    const severity = worstOf(facts);
    const title = `${severity ?? "waiting"}: ${slug}`;
    return site.send(request, reply, {
      title,
      current: "organizations",
      isLive: true,
      severity: severity ?? "unknown",
      main,
    });
  });

  site.addAct(scope, "/o/:slug/run", "operate", { perform: run });

  function slugOf(request: FastifyRequest): string {
    return (request.params as { readonly slug: string }).slug;
  }

  async function find(request: FastifyRequest): Promise<OrganizationFacts | null> {
    return readOrganization(options, slugOf(request), { withDetails: seesDetails(request) });
  }

  function sendMissing(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const main = renderMessage(
      "No such organization is configured.",
      html`Nobody checks «${slugOf(request)}». <a href="/">All organizations</a>`,
    );
    return site.sendMissing(request, reply, { current: "organizations", main });
  }

  async function run(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const facts = await find(request);
    if (facts === null) return sendMissing(request, reply);
    const author = authorOf(request);
    let without = 0;
    for (const { check } of facts.checks.map(({ state }) => state)) {
      try {
        const { severity } = await running.runNow(check, facts.slug, author);
        if (severity === "unknown") without++;
      } catch (error) {
        // It runs elsewhere just now, or flatline stops: the others may still run.
        if (!(error instanceof FlatlineError) || error.fault === "bug") throw error;
        without++;
      }
    }
    const all = `${countOf(facts.checks.length, "healthcheck")} ran`;
    const did = without === 0 ? `${all}.` : `${all}, ${without} without a result.`;
    return site.sendDone(request, reply, did, organizationPath(facts.slug));
  }

  async function chartOf(facts: OrganizationFacts, path: string, params: URLSearchParams): Promise<Html> {
    const { slug, windowHours, open, nowMs } = facts;
    const { incident = null, members = [] } = open === null ? {} : chartOfIncident(open.own);
    const data = await readDeathsChart(running, {
      subject: slug,
      params,
      members: members.length > 0 ? members : [{ slug, windowHours, expected: null, beganMs: nowMs }],
      incident: members.length > 0 ? incident : null,
      acts: await actsOf(facts),
    });
    return renderChart(data, path, params);
  }

  /** Markers, and what people did with its alerts. */
  async function actsOf({ slug, nowMs, incidents }: OrganizationFacts): Promise<readonly ChartAct[]> {
    const own = incidents.flatMap(({ members }) => members.filter((alert) => alert.slug === slug));
    const fromMs = Math.min(nowMs, ...own.map((alert) => alert.startsAtMs)) - weekMs;
    const markers = await running.store.markers.between({ slug, fromMs, toMs: nowMs });
    return [
      ...markers.map(({ atMs, text }): ChartAct => ({ atMs, mark: "marker", text: `«${breakAddresses(text)}»` })),
      ...own.flatMap(({ acknowledgement, judgement }): ChartAct[] => [
        ...(acknowledgement === null
          ? []
          : [{ atMs: acknowledgement.atMs, mark: "dot", text: "acknowledged" } as const]),
        ...(judgement === undefined
          ? []
          : [{ atMs: judgement.atMs, mark: "dot", text: `judged ${judgement.verdict}` } as const]),
      ]),
    ].toSorted((left, right) => left.atMs - right.atMs);
  }
}
