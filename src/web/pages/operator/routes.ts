import type { FastifyInstance } from "fastify";

import { formatCount } from "../../../base/numbers.ts";
import { renderConfig } from "../../../config/render.ts";
import { authorOf, readerOf } from "../../access/admission.ts";
import { discoveryProblem } from "../../../words/incoming.ts";
import { countOf, durationText } from "../../../words/numbers.ts";
import { html, nothing, renderTime, type Html } from "../html.ts";
import type { Running } from "../../read/running.ts";
import type { TestedDelivery } from "../../../alerting/deliver/test-delivery.ts";
import type { WebParts } from "../../parts.ts";
import { discardEntry, retryEntry } from "../../../alerting/deliver/outbox-acts.ts";
import { changeOutbox, readDeliveries, testReceiver } from "../../read/receivers.ts";
import { isMistake, type PageAsked } from "../site.ts";
import { renderHead } from "../frame.ts";
import { renderSection } from "../table.ts";
import { actForm, renderDialog, renderThen } from "../dialog.ts";
import { renderReceivers } from "./receivers.ts";
import { addSilencePages } from "./silences.ts";

const receiversAround = { title: "Receivers · flatline", current: "receivers" } as const;

/** Adds `/silences`, `/receivers` and `/config`, with their dialogs and forms. */
export function addOperatorPages(server: FastifyInstance, parts: WebParts): void {
  const { site, running, reload } = parts;
  addSilencePages(server, parts);

  site.addPage(server, "/receivers", "read", async ({ search }) => {
    const main = renderReceivers(await readDeliveries(running), search);
    return { ...receiversAround, isLive: true, main };
  });

  site.addAct(server, "/receivers/test", "admin", {
    perform: async ({ request, search }) => {
      const name = search.get("receiver") ?? "";
      const tested = (await testReceiver(running, name, authorOf(request))) ?? [];
      const main = renderDialog({
        action: null,
        title: tested.length === 0 ? "There is no such receiver." : "A test was sent.",
        content: renderThen(tested.map((one) => [name, testWords(one)])),
        foot: "A test is marked as one, and is about no alert.",
        back: "/receivers",
      });
      return { ...receiversAround, isDialog: true, main };
    },
  });

  /** Acts on one notification, or on all that a receiver gave up; refusals of these are counted. */
  const change = async ({ request, search }: PageAsked, act: typeof retryEntry, done: string) => {
    const receiver = search.get("receiver");
    const dead = receiver === null ? [] : (await running.store.outbox.list()).filter(({ state }) => state === "dead");
    const all = dead.filter((entry) => entry.receiver === receiver).map(({ id }) => id);
    const ids = receiver === null ? [search.get("id") ?? ""] : all;
    const refused: string[] = [];
    for (const id of ids)
      try {
        await changeOutbox(running, act, { id, author: authorOf(request) });
      } catch (error) {
        if (receiver === null || !isMistake(error)) throw error;
        refused.push(error.message);
      }
    const left = refused.length === 0 ? "" : `, ${formatCount(refused.length)} not: ${refused[0]}`;
    return { did: `${formatCount(ids.length - refused.length)} ${done}${left}.`, path: "/receivers" };
  };

  site.addAct(server, "/receivers/retry", "admin", {
    perform: (asked) => change(asked, retryEntry, "tried again"),
  });
  site.addAct(server, "/receivers/discard", "admin", {
    ask: ({ request, search }, problem) => {
      const receiver = search.get("receiver");
      const [name, value] = receiver === null ? ["id", search.get("id") ?? ""] : ["receiver", receiver];
      const main = renderDialog({
        action: "/receivers/discard",
        title: receiver === null ? "Discard this notification?" : `Discard all that ${receiver} gave up?`,
        content: html`<p>What is discarded is never sent. Its receiver does not learn of it.</p>
          <input type="hidden" name="${name}" value="${value}" />`,
        problem,
        foot: `As ${readerOf(request) ?? ""}. Cannot be undone.`,
        verb: "Discard",
        back: "/receivers",
      });
      return { ...receiversAround, isDialog: true, main };
    },
    perform: (asked) => change(asked, discardEntry, "discarded"),
  });

  site.addPage(server, "/config", "read", async () => {
    return { title: "Configuration · flatline", current: "config", main: renderConfiguration(running) };
  });
  site.addAct(server, "/config/reload", "admin", {
    perform: async ({ request }) => {
      await reload(authorOf(request));
      return { did: "Reloaded.", path: "/config" };
    },
  });
}

const outcomeWords = { accepted: "accepted", retry: "did not accept it", rejected: "refused it" } as const;

function testWords({ recipient, outcome, detail }: Omit<TestedDelivery, "attempt">): string {
  return `${recipient === null ? "" : `${recipient} `}${outcomeWords[outcome]}: ${detail}`;
}

// More than fit the page; rendering 2,000 organizations blocked the process for 0.9 s (2026-11).
const renderedOrganizations = 20;

/** Renders the applied configuration as YAML without secrets, below the problems of discovery sources. */
function renderConfiguration({ config, reloads, clock, discovery }: Running): Html {
  const nowMs = clock.nowMs();
  const { lastReload, appliedAtMs } = reloads();
  const { file, organizations, ...others } = config();
  const written = organizations.filter(({ discoveredBy }) => discoveredBy === null);
  const shown = written.slice(0, renderedOrganizations);
  const text = renderConfig({ ...others, file, organizations: shown });
  const omitted = written.length - shown.length;
  const problem = lastReload?.problem ?? null;
  const [headline, reload] =
    problem !== null
      ? ["The last reload failed: an older configuration is applied.", ""]
      : [
          "The configuration that is applied, with its defaults",
          lastReload === null ? "Not reloaded since the start." : "The last reload was ok.",
        ];
  const notes = [
    ...(lastReload === null || problem === null
      ? []
      : [
          html`<p>Not applied at ${renderTime(lastReload.atMs, nowMs)}:</p>
            <pre>${problem}</pre>`,
        ]),
    ...discovery()
      .flatMap((source) => discoveryProblem(source) ?? [])
      .map((said) => html`<p>${said}</p>`),
  ];
  const more = html`<p class="second">
    ${countOf(omitted, "organization")} more: <code>flatline config show</code> has all.
  </p>`;
  return html`${renderHead([headline], { acts: actForm("/config/reload", "Reload") })}
    <p class="lede">Applied ${durationText(nowMs - appliedAtMs)} ago from <code>${file}</code>. ${reload}</p>
    ${notes.map((note) => html`<div class="note">${note}</div>`)}
    ${renderSection(
      "As YAML",
      html`<pre class="yaml" tabindex="0" aria-label="The configuration as YAML">${text}</pre>
        ${omitted === 0 ? nothing : more}`,
    )}`;
}
