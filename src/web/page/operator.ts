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
import { renderReceivers, shownLetters, type OutboxRow } from "./receivers/receivers.ts";
import { deliveryName, slugOfSubject, type OutboxEntry } from "../../store/alerts/outbox-entry.ts";
import type { OutboxPort } from "../ports/operator.ts";

type OperatorRoute = readonly [
  path: string,
  current: PageKey,
  render: (request: FastifyRequest) => Promise<OperatorPage>,
];

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
        const data = { receivers: rows, outbox: await readOutbox(outbox, entries), attempts, chosen: receiver };
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

/** What waits and dead letters, as many of each as are shown. */
async function readOutbox(outbox: Pick<OutboxPort, "eventsOf">, entries: readonly OutboxEntry[]): Promise<OutboxRow[]> {
  const byDeath = Map.groupBy(entries, ({ state }) => state === "dead");
  const shown = [...byDeath.values()].flatMap((group) => group.slice(0, shownLetters));
  const events = await outbox.eventsOf(shown.map(({ id }) => id));
  return entries.map((entry) => outboxRow(entry, events.get(entry.id) ?? ""));
}

function outboxRow(entry: OutboxEntry, event: string): OutboxRow {
  const { id, receiver, recipient, state, attempts, createdAtMs, nextAttemptAtMs, lastError, subjects } = entry;
  const [first, ...others] = new Set(subjects.flatMap(slugOfSubject));
  return {
    id,
    receiver: deliveryName(receiver, recipient),
    isDead: state === "dead",
    createdAtMs,
    nextAttemptAtMs,
    attempts,
    lastError,
    about:
      first === undefined ? "a notification" : `${first}${others.length === 0 ? "" : ` and ${others.length} more`}`,
    event,
  };
}
