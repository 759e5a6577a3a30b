import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { dayMs } from "../../../base/time.ts";
import { escapeUnseen } from "../../../base/unseen-text.ts";
import { beginOfAlertId } from "../../../contract/alert-id.ts";
import { hasIdentities } from "../../access/admission.ts";
import { requireOrganization, seesDetails, seesOrganization } from "../../access/identity.ts";
import type { AccessSettings } from "../../access/settings.ts";
import { addResource } from "../../resource.ts";
import { paramsOf, sendText } from "../answer.ts";
import type { Documents } from "../documents.ts";
import type { PageModel, DetailPorts } from "../overview/overview-model.ts";
import { html, type Html } from "../../parts/html.ts";
import { renderMessage, type PageKey } from "../parts/layout.ts";
import type { PageAlert } from "../ports.ts";
import { actFactsOf } from "./alert-acts.ts";
import { readAlert } from "./alert-model.ts";
import { alertTitle, renderAlertPage } from "./alert-page.ts";
import { bulkSubject, groupOf } from "./alert-row.ts";
import { renderAlerts } from "./alerts.ts";
import { readAlertsQuery } from "./query.ts";
import { alertsTitle } from "./sentence.ts";

type Handle = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

export interface AlertPagesOptions extends DetailPorts {
  readonly addPage: (path: string, access: "public" | "read", current: PageKey, handle: Handle) => void;
  readonly readModel: (request: FastifyRequest) => Promise<PageModel>;
  readonly documents: Documents;
  readonly sendMissing: (
    request: FastifyRequest,
    reply: FastifyReply,
    current: PageKey,
    main: Html,
  ) => Promise<FastifyReply>;
  readonly settings: () => AccessSettings;
}

/** `/alerts` and the page of each. Authors and comments need `read`; the rest is public. */
export function addAlertPages(scope: FastifyInstance, options: AlertPagesOptions): void {
  const { addPage, readModel, documents, sendMissing, settings, page } = options;
  const retentionDays = (): number => Math.round(page.retentionMs() / dayMs);

  /** Counts the organizations with an acknowledged alert whose gate is held. */
  async function countHeld(alerts: readonly PageAlert[]): Promise<number> {
    const slugs = new Set(alerts.filter((view) => groupOf(view) === "acknowledged").map(({ alert }) => alert.slug));
    if (slugs.size === 0) return 0;
    const held = await page.heldSince();
    return [...slugs].filter((slug) => held.has(slug)).length;
  }

  /** The alert that somebody named by the first digits of its id; null: none, or several. */
  async function onlyOneStarting(request: FastifyRequest, prefix: string): Promise<string | null> {
    if (!beginOfAlertId.test(prefix)) return null;
    const found = (await options.alerts.startingWith(prefix)).filter(({ slug }) => seesOrganization(request, slug));
    return found.length === 1 ? (found[0]?.id ?? null) : null;
  }

  addPage("/alerts", "public", "alerts", async (request, reply) => {
    const days = retentionDays();
    const [model, all] = await Promise.all([readModel(request), page.alerts()]);
    const alerts = all.filter(({ alert }) => seesOrganization(request, alert.slug));
    const withPeople = seesDetails(request);
    const data = {
      nowMs: model.nowMs,
      alerts,
      held: await countHeld(alerts),
      retentionDays: days,
      withPeople,
      hasToken: hasIdentities(settings()),
    };
    const main = renderAlerts(data, readAlertsQuery(paramsOf(request), days));
    const text = documents.render(request, model, {
      title: alertsTitle(alerts),
      current: "alerts",
      isLive: true,
      main,
    });
    return sendText(request, reply, "text/html", text);
  });

  // For the dialogs about many alerts: what is to be said of each is known when they open.
  addResource(scope, "/acts.json", settings, {
    GET: {
      access: "public",
      handle: async (request, reply) => {
        const holdOf = await page.holds();
        const alerts = (await page.alerts())
          .filter(({ alert }) => seesOrganization(request, alert.slug))
          .map((view) => bulkSubject(view, page.actRules(view.alert.slug), holdOf(view.alert)));
        return sendText(request, reply, "application/json", escapeUnseen(JSON.stringify({ alerts })));
      },
    },
  });

  addPage("/alerts/:id", "public", "alerts", async (request, reply) => {
    const { id } = request.params as { readonly id: string };
    const model = await readModel(request);
    const hasToken = hasIdentities(settings());
    const ask = { id, params: paramsOf(request), hasToken, withPeople: seesDetails(request) };
    const data = await readAlert(options, model, ask);
    if (data === null) {
      const full = await onlyOneStarting(request, id);
      if (full !== null)
        return reply.redirect(`/alerts/${full}${request.url.slice(request.url.indexOf(id) + id.length)}`);
      const title = `No alert has this id, or it ended more than ${retentionDays()} days ago.`;
      return sendMissing(request, reply, "alerts", renderMessage(title, html`<a href="/alerts">Go to alerts</a>`));
    }
    requireOrganization(request, data.view.alert.slug);
    const text = documents.render(request, model, {
      title: alertTitle(data),
      current: "alerts",
      isLive: true,
      severity: data.view.endsAtMs === null ? data.view.alert.severity : "ok",
      main: renderAlertPage(data),
      scripts: ["uplot.js", "web/client/main.js"],
      data: {
        ...(data.chart.at.length === 0 ? {} : { chart: data.chart, lanes: data.lanes }),
        facts: actFactsOf(data),
      },
      showsVerdict: false,
    });
    return sendText(request, reply, "text/html", text);
  });
}
