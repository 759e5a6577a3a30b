import { z } from "zod";

import type { FastifyRequest } from "fastify";
import { seesOrganization, seesPattern } from "../access/identity.ts";
import { dayMs } from "../../base/time.ts";
import { renderSilences } from "./silences/silences.ts";
import { paramsOf } from "./answer.ts";
import type { PageKey } from "./parts/layout.ts";
import type { PageRoutesOptions, OperatorPage } from "./routes.ts";
import { renderConfiguration } from "./configuration/configuration.ts";
import { renderQueue } from "./queue/queue.ts";
import { readReceiverRows } from "./receivers/receiver-rows.ts";
import { renderReceivers, type OutboxRow } from "./receivers/receivers.ts";
import { deliveryName, type OutboxEntry } from "../../store/alerts/outbox.ts";

type OperatorRoute = readonly [
  path: string,
  current: PageKey,
  render: (request: FastifyRequest) => Promise<OperatorPage>,
];

/** What of a queued notification is shown; it is ours, but an older version may have written it. */
const payloadSchema = z.object({
  alerts: z.array(z.object({ slug: z.string(), check: z.string(), event: z.string() })).default([]),
});

// A look at the last hours of a busy fleet; the log has all of it.
const shownDeliveries = 50;

/** Returns the pages that only an operator sees. */
export function operatorPages(options: PageRoutesOptions, signal: () => AbortSignal): readonly OperatorRoute[] {
  const { clock, page, outbox } = options;
  return [
    [
      "/silences",
      "silences",
      async (request) => {
        const days = Math.round(page.retentionMs() / dayMs);
        const own = (await page.silences()).filter(({ rule }) => seesPattern(request, rule.slug ?? null));
        const main = renderSilences(own, days, clock.nowMs());
        return { title: "Silences · flatline", main };
      },
    ],
    [
      "/receivers",
      "receivers",
      async (request) => {
        const receiver = paramsOf(request).get("receiver");
        const entries = await outbox.list();
        const rows = await readReceiverRows({ outbox, page, entries });
        const attempts = await page.deliveries(receiver, shownDeliveries);
        const data = { receivers: rows, outbox: entries.map(outboxRow), attempts, chosen: receiver };
        return { title: "Receivers · flatline", main: renderReceivers(data, clock.nowMs()) };
      },
    ],
    [
      "/queue",
      "queue",
      async (request) => {
        const order = paramsOf(request).get("by") === "organization" ? "organization" : "age";
        const queue = await page.queue(signal());
        const isSeen = ({ slug }: { readonly slug: string }): boolean => seesOrganization(request, slug);
        const seen = { ...queue, reports: queue.reports.filter(isSeen), failures: queue.failures.filter(isSeen) };
        return { title: "Review queue · flatline", main: renderQueue(seen, order, clock.nowMs()) };
      },
    ],
    [
      "/config",
      "config",
      async (request) => {
        const lookedUp = paramsOf(request).get("o");
        const data = { ...page.configuration(), organizations: page.organizations(), lookedUp };
        return { title: "Configuration · flatline", main: renderConfiguration(data, clock.nowMs()) };
      },
    ],
  ];
}

function outboxRow({
  id,
  receiver,
  recipient,
  state,
  attempts,
  createdAtMs,
  nextAttemptAtMs,
  lastError,
  payload,
}: OutboxEntry): OutboxRow {
  const alerts = readAlerts(payload);
  const [first] = alerts;
  const more = alerts.length > 1 ? ` and ${alerts.length - 1} more` : "";
  return {
    id,
    receiver: deliveryName(receiver, recipient),
    isDead: state === "dead",
    createdAtMs,
    nextAttemptAtMs,
    attempts,
    lastError,
    about: first === undefined ? "a notification" : `${first.slug}${more}`,
    event: first?.event ?? "",
  };
}

function readAlerts(payload: string): readonly { readonly slug: string; readonly event: string }[] {
  try {
    return payloadSchema.safeParse(JSON.parse(payload)).data?.alerts ?? [];
  } catch {
    return [];
  }
}
