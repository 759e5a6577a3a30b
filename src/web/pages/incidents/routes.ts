import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";

import { slugsOf } from "../../../alerting/incident-summary.ts";
import { hasAtMost } from "../../../base/cut-text.ts";
import { parseDuration } from "../../../base/durations.ts";
import { FlatlineError } from "../../../base/errors.ts";
import type { ByteBudget } from "../../../base/request-body.ts";
import { judgementVerdicts, type JudgementVerdict } from "../../../contract/judgement.ts";
import type { IncidentActResult } from "../../../alerting/acts/plan-act.ts";
import { authorOf, readerOf, seesDetails } from "../../access/identity.ts";
import { paramsOf } from "../../answer.ts";
import { receiveForm } from "../../form.ts";
import { countOf } from "../../../words/numbers.ts";
import { nothing, type Html } from "../../parts/html.ts";
import { chartOfIncident, readAnswersChart, readDeathsChart } from "../../read/chart.ts";
import { renderChart } from "../chart.ts";
import { renderDeadAssets } from "../dead-assets.ts";
import { renderAboutInIncident } from "../organization/about.ts";
import { chartActsOf } from "./story.ts";
import { withoutReceiverNames, type IncidentDetail, type IncidentReading } from "../../read/incidents.ts";
import type { AlertAssets } from "../../read/alert-assets.ts";
import { readOrganization, type OrganizationSources } from "../../read/organization.ts";
import type { PageContent } from "../frame.ts";
import { missingIncident, sentenceOf, type Site } from "../site.ts";
import {
  actOf,
  dialogActs,
  doneSentence,
  isJudged,
  proposedVerdict,
  renderActDialog,
  renderOutcome,
  type DialogAct,
  type DialogFacts,
  type Filled,
} from "./dialogs.ts";
import { incidentTitle, renderIncident } from "./incident.ts";
import { renderIncidents } from "./list.ts";
import { memberFactsOf, sharesCause, type MemberFacts } from "./member-facts.ts";
import { addLookDialog } from "./opinion.ts";

export interface IncidentPageRoutes extends OrganizationSources {
  readonly site: Site;
  readonly incidents: IncidentReading;
  readonly alertAssets: Pick<AlertAssets, "costOf">;
  readonly bodies: ByteBudget;
}

// More than a person reads; older ones follow on a page of their own.
const mostListed = 100;
// A form with all slugs of a large incident ticked one by one.
const mostFormBytes = 1_024 * 1_024;

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
      cost: await alertAssets.costOf(page.members.map(({ alert }) => alert)),
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
    const facts = await readOrganization(routes, member.alert.slug, { withDetails: seesDetails(request) });
    return facts === null ? nothing : renderAboutInIncident(facts, page.incident.number);
  }

  function referenceOf(request: FastifyRequest): string {
    return (request.params as { readonly id: string }).id;
  }

  async function find(request: FastifyRequest): Promise<IncidentDetail | null> {
    const page = await incidents.find(referenceOf(request));
    return page === null || seesDetails(request) ? page : withoutReceiverNames(page);
  }

  for (const act of dialogActs)
    site.addAct(scope, `/incidents/:id/${act}`, act === "judge" || act === "release" ? "gate" : "operate", {
      ask: (request, reply) => ask(act, request, reply),
      perform: (request, reply) => perform(act, request, reply),
    });

  addLookDialog(scope, routes);

  async function ask(act: DialogAct, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const page = await find(request);
    if (page === null) return site.sendMissing(request, reply, missingIncident(referenceOf(request)));
    return sendDialog(request, reply, act, page, paramsOf(request), "");
  }

  async function perform(act: DialogAct, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const page = await find(request);
    if (page === null) return site.sendMissing(request, reply, missingIncident(referenceOf(request)));
    const form = await receiveForm(request, reply, { mostBytes: mostFormBytes, budget: bodies });
    try {
      const result = await run(request, act, page, form, false);
      return await sendDone(request, reply, act, page, result);
    } catch (error) {
      if (!(error instanceof FlatlineError) || error.fault === "bug") throw error;
      const status = error.code === "conflict" ? 409 : error.code === "forbidden" ? 403 : 422;
      return sendDialog(request, reply.code(status), act, page, form, sentenceOf(error.message));
    }
  }

  function sendDone(
    request: FastifyRequest,
    reply: FastifyReply,
    act: DialogAct,
    page: IncidentDetail,
    result: IncidentActResult,
  ): unknown {
    const { number } = page.incident;
    const did = doneSentence(act, result);
    const isAll = result.skipped.every(({ reason }) => reason === "already" || reason === "ended");
    return isAll
      ? site.sendDone(request, reply, did, `/incidents/${number}`)
      : site.sendDialog(request, reply, renderOutcome(number, act, result), around(page));
  }

  /** @throws FlatlineError invalid_data for what the form does not say, and as the act */
  async function run(
    request: FastifyRequest,
    act: DialogAct,
    page: IncidentDetail,
    form: URLSearchParams,
    isDryRun: boolean,
    verdict?: JudgementVerdict,
  ): Promise<IncidentActResult> {
    const filled = { ...readFilled(act, form, isDryRun), ...(verdict === undefined ? {} : { verdict }) };
    const meant = meantOf(act, page, form);
    const held = meant.filter(({ heldSinceMs }) => heldSinceMs !== null).length;
    if (act === "release" && !isDryRun && held > 1 && form.get("typed")?.trim() !== String(held))
      throw new FlatlineError("invalid_data", `type ${held} to release so many`);
    const endsAtMs = running.clock.nowMs() + (parseDuration(filled.duration) ?? 0);
    const what = actOf(act, isDryRun && filled.comment === "" ? { ...filled, comment: "a dry run" } : filled, endsAtMs);
    if (what === null) throw new FlatlineError("invalid_data", "choose what it was");
    return incidents[isDryRun ? "foresee" : "act"]({
      incident: page.incident.number,
      act: what,
      author: authorOf(request),
      slugs: meantSlugs(act, page, form, meant),
    });
  }

  async function sendDialog(
    request: FastifyRequest,
    reply: FastifyReply,
    act: DialogAct,
    page: IncidentDetail,
    form: URLSearchParams,
    problem: string,
  ): Promise<unknown> {
    const ticked = form.getAll("slug");
    const meant = meantOf(act, page, form);
    const filled = readFilled(act, form, true);
    const dialog: DialogFacts = {
      facts: page,
      act,
      meant,
      slugs: ticked.length === 0 ? null : ticked,
      groups: { odd: form.has("odd"), judged: form.has("judged") },
      foreseen: await foresee(request, act, page, form),
      filled: { ...filled, verdict: filled.verdict ?? proposedVerdict(page) },
      problem,
      author: readerOf(request) ?? "",
    };
    return site.sendDialog(request, reply, renderActDialog(dialog), around(page));
  }

  /** What it would do, by a dry run; empty where it cannot be done at all, which the act itself says. */
  async function foresee(
    request: FastifyRequest,
    act: DialogAct,
    page: IncidentDetail,
    form: URLSearchParams,
  ): Promise<DialogFacts["foreseen"]> {
    try {
      if (act !== "judge") return { act: await run(request, act, page, form, true) };
      const all: Partial<Record<JudgementVerdict, IncidentActResult>> = {};
      for (const verdict of judgementVerdicts) all[verdict] = await run(request, act, page, form, true, verdict);
      return all;
    } catch (error) {
      if (error instanceof FlatlineError && error.fault !== "bug") return {};
      throw error;
    }
  }
}

/** What stands around a dialog that is a page of its own. */
function around(page: IncidentDetail): Omit<PageContent, "main"> {
  return { title: incidentTitle(page), current: "incidents" };
}

/** The members that a form means: those that are ticked, else the groups that are in. */
function meantOf(act: DialogAct, page: IncidentDetail, form: URLSearchParams): readonly MemberFacts[] {
  const all = memberFactsOf(page);
  const ticked = new Set(form.getAll("slug"));
  if (ticked.size > 0) return all.filter(({ slug }) => ticked.has(slug));
  if (act === "release") return all.filter(({ heldSinceMs }) => heldSinceMs !== null);
  if (act !== "judge") return all.filter(({ member }) => act === "comment" || member.end === null);
  const judgeable = all.filter(({ member }) => member.alert.kind === "verdict");
  // Of one alone nothing is chosen, and all that were judged are judged again together.
  if (judgeable.length === 1 || judgeable.every(isJudged)) return judgeable;
  return judgeable.filter((one) => {
    if (!sharesCause(one)) return form.has("odd");
    return !isJudged(one) || form.has("judged");
  });
}

/** null: all of the incident. */
function meantSlugs(
  act: DialogAct,
  page: IncidentDetail,
  form: URLSearchParams,
  meant: readonly MemberFacts[],
): string[] | null {
  const ticked = form.getAll("slug");
  if (ticked.length > 0) return ticked;
  // Those that were judged apart are judged again only where they are named.
  if (act !== "judge" || (meant.length === page.members.length && !meant.some(isJudged))) return null;
  return [...new Set(meant.map(({ slug }) => slug))];
}

const formSchema = z.object({
  comment: z
    .string()
    .trim()
    .refine((text) => hasAtMost(text, 1_000), "comment: is longer than 1,000 characters"),
  verdict: z.enum(judgementVerdicts).nullable(),
  duration: z.string().refine((text) => (parseDuration(text) ?? 0) > 0, "duration: must be one, as 1h or 30m"),
});

/** @throws FlatlineError invalid_data where the act needs more than the form says */
function readFilled(act: DialogAct, form: URLSearchParams, isAsking: boolean): Filled {
  const verdict = judgementVerdicts.find((one) => one === form.get("verdict")) ?? null;
  const read = formSchema.safeParse({
    comment: form.get("comment") ?? "",
    verdict,
    duration: form.get("duration") ?? "4h",
  });
  if (!read.success)
    throw new FlatlineError("invalid_data", read.error.issues[0]?.message ?? "the form cannot be read");
  const needsComment = act === "release" || act === "silence" || act === "comment";
  if (!isAsking && needsComment && read.data.comment === "")
    throw new FlatlineError("invalid_data", "write why: it is kept with your name");
  return read.data;
}
