import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { FlatlineError } from "../../../base/errors.ts";
import { matchesText } from "../../../base/text-pattern.ts";
import { authorOf, readerOf } from "../../access/identity.ts";
import { receiveForm } from "../../form.ts";
import { paramsOf } from "../../answer.ts";
import type { PageSilence } from "../../read/page.ts";
import { timeText } from "../../../words/numbers.ts";
import { html } from "../../parts/html.ts";
import { renderMessage } from "../frame.ts";
import { sentenceOf, type AddPage } from "../site.ts";
import type { OperatorPageRoutes } from "./routes.ts";
import {
  endOf,
  problemOf,
  problemOfEnd,
  readSilenceForm,
  renderNewSilence,
  renderSilenceChange,
  type HeldBack,
  type SilenceForm,
} from "./silence-dialog.ts";
import { path, renderSilences } from "./silences.ts";

// A slug, a reason and a few choices.
const mostFormBytes = 16 * 1_024;
const around = { title: "Silences · flatline", current: "silences" } as const;

type Routes = Pick<OperatorPageRoutes, "site" | "clock" | "page" | "silences" | "alerts" | "checks" | "bodies">;

/** `/silences`, and the dialogs that make, change and end one. */
export function addSilencePages(
  scope: FastifyInstance,
  addPage: AddPage,
  { site, clock, page, silences, alerts, checks, bodies }: Routes,
): void {
  addPage("/silences", "read", async (request, reply) => {
    const main = renderSilences({
      silences: await page.silences(),
      params: paramsOf(request),
      retentionMs: page.retentionMs(),
      nowMs: clock.nowMs(),
    });
    return site.send(request, reply, { ...around, isLive: true, main });
  });

  const read = (request: FastifyRequest, reply: FastifyReply): Promise<URLSearchParams> =>
    receiveForm(request, reply, { mostBytes: mostFormBytes, budget: bodies });

  const known = (): string[] => page.organizations().map(({ slug }) => slug);

  async function heldBack({ slug: pattern, check }: SilenceForm): Promise<HeldBack> {
    const organizations = known().filter((slug) => matchesText(pattern, slug));
    const meant = new Set(organizations);
    const firing = (await alerts.list()).alerts.filter(
      ({ state }) => state.state === "firing" && meant.has(state.slug) && (check ?? state.check) === state.check,
    );
    return { organizations, firing: firing.length };
  }

  async function sendNew(
    request: FastifyRequest,
    reply: FastifyReply,
    form: SilenceForm,
    problem: string,
  ): Promise<FastifyReply> {
    const dialog = renderNewSilence({
      form,
      held: await heldBack(form),
      known: known(),
      checks: checks.names(),
      problem,
      author: readerOf(request) ?? "",
      nowMs: clock.nowMs(),
    });
    return site.sendDialog(request, reply, dialog, around);
  }

  site.addAct(scope, "/silences/new", "operate", {
    ask: (request, reply) => sendNew(request, reply, readSilenceForm(paramsOf(request), checks.names()), ""),
    perform: async (request, reply) => {
      const form = readSilenceForm(await read(request, reply), checks.names());
      const nowMs = clock.nowMs();
      const problem = problemOf(form, known(), nowMs);
      const endsAtMs = endOf(form, nowMs) ?? 0;
      if (problem !== null) return sendNew(request, reply.code(422), form, problem);
      const { slug, check, comment } = form;
      await silences.add({ slug, check, startsAtMs: nowMs, endsAtMs, comment }, authorOf(request));
      return site.sendDone(request, reply, silencedUntil(endsAtMs, nowMs), path);
    },
  });

  /** Answers that it is not there, or is none to change. */
  function sendGone(request: FastifyRequest, reply: FastifyReply): unknown {
    const main = renderMessage("There is no such silence.", html`<a href="${path}">All silences</a>`);
    return site.sendMissing(request, reply, { current: "silences", main });
  }

  async function find(request: FastifyRequest): Promise<PageSilence | null> {
    const { id } = request.params as { readonly id: string };
    const found = (await page.silences()).find((one) => one.id === id);
    return found === undefined || found.state === "expired" ? null : found;
  }

  site.addAct(scope, "/silences/:id/change", "operate", {
    ask: async (request, reply) => {
      const silence = await find(request);
      if (silence === null) return sendGone(request, reply);
      const params = paramsOf(request);
      const form = readSilenceForm(params, checks.names());
      const comment = params.has("comment") ? form.comment : silence.rule.comment;
      return sendChange(request, reply, silence, { ...form, comment }, "");
    },
    perform: async (request, reply) => {
      const silence = await find(request);
      if (silence === null || silence.id === null) return sendGone(request, reply);
      const form = readSilenceForm(await read(request, reply), checks.names());
      const nowMs = clock.nowMs();
      const problem = problemOfEnd(form, silence.endsAtMs, nowMs);
      if (problem !== null) return sendChange(request, reply.code(422), silence, form, problem);
      const endsAtMs = endOf(form, silence.endsAtMs) ?? 0;
      try {
        await silences.change(silence.id, { endsAtMs, comment: form.comment }, authorOf(request));
      } catch (error) {
        if (!(error instanceof FlatlineError) || error.fault === "bug") throw error;
        return sendChange(request, reply.code(error.httpStatus), silence, form, sentenceOf(error.message));
      }
      return site.sendDone(request, reply, silencedUntil(endsAtMs, nowMs), path);
    },
  });

  function sendChange(
    request: FastifyRequest,
    reply: FastifyReply,
    silence: PageSilence,
    form: SilenceForm,
    problem: string,
  ): unknown {
    const dialog = renderSilenceChange({
      silence,
      form,
      problem,
      author: readerOf(request) ?? "",
      nowMs: clock.nowMs(),
    });
    return site.sendDialog(request, reply, dialog, around);
  }

  site.addAct(scope, "/silences/:id/end", "operate", {
    perform: async (request, reply) => {
      const silence = await find(request);
      if (silence === null || silence.id === null) return sendGone(request, reply);
      await silences.expire(silence.id, authorOf(request));
      return site.sendDone(request, reply, "The silence has ended.", path);
    },
  });
}

function silencedUntil(endsAtMs: number, nowMs: number): string {
  return `Silenced until ${timeText(endsAtMs, nowMs)}.`;
}
