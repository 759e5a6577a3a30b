import type { FastifyInstance } from "fastify";

import { FlatlineError } from "../../../base/errors.ts";
import { renderConfig } from "../../../config/render.ts";
import { authorOf, readerOf } from "../../access/identity.ts";
import { discoveryProblem } from "../../read/discovery.ts";
import { countOf, durationText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { Running } from "../../read/running.ts";
import type { TestedDelivery } from "../../../alerting/deliver/test-delivery.ts";
import type { WebParts } from "../../parts.ts";
import { discardEntry, retryEntry } from "../../../alerting/deliver/outbox-acts.ts";
import { changeOutbox, readReceivers, testReceiver } from "../../read/receivers.ts";
import type { PageAsked } from "../site.ts";
import { renderHead } from "../frame.ts";
import { renderSection } from "../table.ts";
import { renderDialog, renderThen } from "../dialog.ts";
import { renderReceivers } from "./receivers.ts";
import { addSilencePages } from "./silences.ts";

// The last hours of a busy fleet; the store has more.
const shownDeliveries = 50;
// A form may name thousands of ticked notifications.
const mostFormBytes = 256 * 1_024;

const receiversAround = { title: "Receivers · flatline", current: "receivers" } as const;

/** Adds `/silences`, `/receivers` and `/config`, with their dialogs and forms. */
export function addOperatorPages(server: FastifyInstance, parts: WebParts): void {
  const { site, running, reload } = parts;
  const { store, clock } = running;
  addSilencePages(server, parts);

  site.addPage(server, "/receivers", "read", async ({ search }) => {
    const outbox = await store.outbox.list();
    const main = renderReceivers({
      receivers: await readReceivers(running, outbox),
      outbox,
      events: await store.outbox.eventsOf(outbox.map(({ id }) => id)),
      attempts: await store.deliveries.latest(shownDeliveries),
      params: search,
      nowMs: clock.nowMs(),
    });
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

  /** Returns a sentence such as "2 tried again, 1 was not." */
  const changeTicked = async ({ request, search }: PageAsked, act: typeof retryEntry, done: string) => {
    const ids = search.getAll("letter");
    let count = 0;
    for (const id of ids)
      try {
        await changeOutbox(running, act, { id, author: authorOf(request) });
        count++;
      } catch (error) {
        if (!(error instanceof FlatlineError) || !["not_found", "conflict"].includes(error.code)) throw error;
      }
    const left = ids.length - count;
    const not = left === 0 ? "" : `, ${left} ${left === 1 ? "was" : "were"} not`;
    return { did: `${count} ${done}${not}.`, path: "/receivers" };
  };

  site.addAct(server, "/receivers/retry", "admin", {
    mostBytes: mostFormBytes,
    perform: (asked) => changeTicked(asked, retryEntry, "tried again"),
  });
  site.addAct(server, "/receivers/discard", "admin", {
    mostBytes: mostFormBytes,
    ask: ({ request, search }) => {
      const letters = search.getAll("letter");
      const many = countOf(letters.length, "notification");
      const none = { action: null, title: "Nothing is ticked.", foot: "" } as const;
      const some = {
        action: "/receivers/discard",
        title: `Discard ${many}?`,
        foot: `As ${readerOf(request) ?? ""}. Cannot be undone.`,
        verb: `Discard ${many}`,
      } as const;
      const content = html`<p>What is discarded is never sent. Its receiver does not learn of it.</p>
        ${letters.map((id) => html`<input type="hidden" name="letter" value="${id}" />`)}`;
      const main = renderDialog({ ...(letters.length === 0 ? none : some), content, back: "/receivers" });
      return { ...receiversAround, isDialog: true, main };
    },
    perform: (asked) => changeTicked(asked, discardEntry, "discarded"),
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
  const headline =
    problem === null
      ? "The configuration that is applied, with its defaults"
      : "The last reload failed: an older configuration is applied.";
  const acts = html`<form method="post" action="/config/reload" hx-post="/config/reload" hx-target="#dialog-place">
    <button>Reload</button>
  </form>`;
  const reload =
    lastReload === null ? "Not reloaded since the start." : problem === null ? "The last reload was ok." : "";
  const more =
    omitted === 0
      ? nothing
      : html`<p class="second">
          ${countOf(omitted, "organization")} more: <code>flatline config show</code> has all.
        </p>`;
  return html`${renderHead([headline], { acts })}
    <p class="lede">Applied ${durationText(nowMs - appliedAtMs)} ago from <code>${file}</code>. ${reload}</p>
    ${
      lastReload === null || problem === null
        ? nothing
        : html`<div class="note">
            <p>Not applied at ${renderTime(lastReload.atMs, nowMs)}:</p>
            <pre>${problem}</pre>
          </div>`
    }
    ${discovery().map((source) => {
      const text = discoveryProblem(source);
      return text === null ? nothing : html`<div class="note"><p>${text}</p></div>`;
    })}
    ${renderSection(
      "As YAML",
      html`<pre class="yaml" tabindex="0" aria-label="The configuration as YAML">${text}</pre>
        ${more}`,
    )}`;
}
