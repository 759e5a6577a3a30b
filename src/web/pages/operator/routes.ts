import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { FlatlineError } from "../../../base/errors.ts";
import type { ByteBudget } from "../../../base/request-body.ts";
import type { Actor } from "../../../contract/actor.ts";
import { authorOf, readerOf } from "../../access/identity.ts";
import { receiveForm } from "../../body.ts";
import { paramsOf } from "../../answer.ts";
import { discoveryProblem } from "../../read/discovery.ts";
import { countOf } from "../../../words/numbers.ts";
import { html } from "../../parts/html.ts";
import type { TestedDelivery } from "../../../alerting/deliver/test-delivery.ts";
import type { Running } from "../../read/running.ts";
import type { SilenceBook } from "../../../alerting/silence-book.ts";
import { discardEntry, retryEntry } from "../../../alerting/deliver/outbox-acts.ts";
import { changeOutbox, readReceivers, testReceiver } from "../../read/receivers.ts";
import type { PageContent } from "../frame.ts";
import { sentenceOf, type Site } from "../site.ts";
import { renderConfiguration } from "./configuration.ts";
import { renderDialog, renderThen } from "../dialog.ts";
import { renderReceivers } from "./receivers.ts";
import { addSilencePages } from "./silence-routes.ts";

export interface OperatorPageRoutes {
  readonly site: Site;
  readonly running: Running;
  readonly silences: SilenceBook;
  readonly reload: (author: Actor) => Promise<void>;
  readonly bodies: ByteBudget;
}

// A look at the last hours of a busy fleet; the log has all of it.
const shownDeliveries = 50;
// All that gave up in a long night, ticked one by one.
const mostFormBytes = 256 * 1_024;

const receiversAround = { title: "Receivers · flatline", current: "receivers" } as const;
const configAround = { title: "Configuration · flatline", current: "config" } as const;

/** `/silences`, `/receivers` and `/config`, with the dialogs and forms of their acts. */
export function addOperatorPages(scope: FastifyInstance, routes: OperatorPageRoutes): void {
  const { site, running, reload, bodies } = routes;
  const { store, clock } = running;
  const addPage = site.pagesOf(scope);
  addSilencePages(scope, addPage, routes);

  addPage("/receivers", "read", async (request, reply) => {
    const params = paramsOf(request);
    const chosen = params.get("receiver");
    const outbox = await store.outbox.list();
    const main = renderReceivers({
      receivers: await readReceivers(running, outbox),
      outbox,
      events: await store.outbox.eventsOf(outbox.map(({ id }) => id)),
      attempts: await store.deliveries.latest({ receiver: chosen, limit: shownDeliveries }),
      chosen,
      params,
      nowMs: clock.nowMs(),
    });
    return site.send(request, reply, { ...receiversAround, isLive: true, main });
  });

  /** An act about all receivers or the configuration, whose errors are dialogs. */
  function addAct(path: string, around: Omit<PageContent, "main">, act: (ask: Ask) => Promise<unknown>): void {
    const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
      const form = await receiveForm(request, reply, { mostBytes: mostFormBytes, budget: bodies });
      try {
        return await act({ request, reply, form });
      } catch (error) {
        if (!(error instanceof FlatlineError) || error.fault === "bug") throw error;
        const content = html`<p>${sentenceOf(error.message)}</p>
          ${error.issues.length === 0 ? "" : html`<pre>${error.issues.join("\n")}</pre>`}`;
        const dialog = renderDialog({
          action: null,
          title: "Nothing was changed.",
          content,
          foot: "",
          back: path.slice(0, path.lastIndexOf("/")),
        });
        return site.sendDialog(request, reply.code(422), dialog, around);
      }
    };
    site.addAct(scope, path, "admin", { perform: handle });
  }

  addAct("/receivers/test", receiversAround, async ({ request, reply, form }) => {
    const name = form.get("receiver") ?? "";
    const tested = (await testReceiver(running, name, authorOf(request))) ?? [];
    const dialog = renderDialog({
      action: null,
      title: tested.length === 0 ? "There is no such receiver." : "A test was sent.",
      content: renderThen(tested.map((one) => [name, testWords(one)])),
      foot: "A test is marked as one, and is about no alert.",
      back: "/receivers",
    });
    return site.sendDialog(request, reply, dialog, receiversAround);
  });

  addAct("/receivers/retry", receiversAround, async ({ request, reply, form }) =>
    site.sendDone(
      request,
      reply,
      await forEachLetter(form, "tried again", (id) =>
        changeOutbox(running, retryEntry, { id, author: authorOf(request) }),
      ),
      "/receivers",
    ),
  );

  site.addAct(scope, "/receivers/discard", "admin", {
    ask: (request, reply) => {
      const letters = paramsOf(request).getAll("letter");
      const many = countOf(letters.length, "notification");
      const dialog = renderDialog({
        action: letters.length === 0 ? null : "/receivers/discard",
        title: letters.length === 0 ? "Nothing is ticked." : `Discard ${many}?`,
        content: html`<p>What is discarded is never sent. Its receiver does not learn of it.</p>
          ${letters.map((id) => html`<input type="hidden" name="letter" value="${id}" />`)}`,
        foot: letters.length === 0 ? "" : `As ${readerOf(request) ?? ""}. Cannot be undone.`,
        ...(letters.length === 0 ? {} : { verb: `Discard ${many}` }),
        back: "/receivers",
      });
      return site.sendDialog(request, reply, dialog, receiversAround);
    },
    perform: async (request, reply) => {
      const form = await receiveForm(request, reply, { mostBytes: mostFormBytes, budget: bodies });
      const did = await forEachLetter(form, "discarded", (id) =>
        changeOutbox(running, discardEntry, { id, author: authorOf(request) }),
      );
      return site.sendDone(request, reply, did, "/receivers");
    },
  });

  addPage("/config", "read", async (request, reply) => {
    const problems = running.discovery().flatMap((source) => discoveryProblem(source) ?? []);
    const main = renderConfiguration(running, problems);
    return site.send(request, reply, { ...configAround, main });
  });

  addAct("/config/reload", configAround, async ({ request, reply }) => {
    await reload(authorOf(request));
    return site.sendDone(request, reply, "Reloaded.", "/config");
  });
}

interface Ask {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly form: URLSearchParams;
}

/** "2 tried again, 1 was not." */
async function forEachLetter(
  form: URLSearchParams,
  done: string,
  work: (id: string) => Promise<void>,
): Promise<string> {
  let count = 0;
  const ids = form.getAll("letter");
  for (const id of ids) {
    try {
      await work(id);
      count++;
    } catch (error) {
      if (!(error instanceof FlatlineError) || !["not_found", "conflict"].includes(error.code)) throw error;
    }
  }
  const left = ids.length - count;
  return `${count} ${done}${left === 0 ? "" : `, ${left} ${left === 1 ? "was" : "were"} not`}.`;
}

const outcomeWords = { accepted: "accepted", retry: "did not accept it", rejected: "refused it" } as const;

function testWords({ recipient, outcome, detail }: Omit<TestedDelivery, "attempt">): string {
  return `${recipient === null ? "" : `${recipient} `}${outcomeWords[outcome]}: ${detail}`;
}
