import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { beginOfAlertId } from "../../../contract/alert-id.ts";
import { html } from "../../parts/html.ts";
import type { AlertReading } from "../../read/alerts.ts";
import type { Running } from "../../read/running.ts";
import { renderMessage } from "../frame.ts";
import { organizationPath } from "../organization/organization.ts";
import type { Site } from "../site.ts";

export interface AlertRedirects {
  readonly site: Site;
  readonly running: Pick<Running, "store">;
  readonly alerts: Pick<AlertReading, "startingWith">;
}

/** `/alerts` and `/alerts/ID` lead to the incidents that alerts belong to; one that is pending has none yet (CONTRACT 15). */
export function addAlertRedirects(scope: FastifyInstance, { site, running, alerts }: AlertRedirects): void {
  const addPage = site.pagesOf(scope);

  addPage("/alerts", "public", async (_, reply) => reply.redirect("/incidents"));

  addPage("/alerts/:id", "public", async (request, reply) => {
    const { id } = request.params as { readonly id: string };
    const kept = await running.store.alerts.find((await onlyOneStarting(id)) ?? id);
    if (kept === null) return sendMissing(request, reply, id);
    const { incident, slug } = kept.alert;
    return reply.redirect(incident === undefined ? organizationPath(slug) : `/incidents/${incident.number}`);
  });

  /** The alert that somebody named by the first digits of its id; null: none, or several. */
  async function onlyOneStarting(prefix: string): Promise<string | null> {
    if (!beginOfAlertId.test(prefix)) return null;
    const found = await alerts.startingWith(prefix);
    return found.length === 1 ? (found[0]?.id ?? null) : null;
  }

  function sendMissing(request: FastifyRequest, reply: FastifyReply, id: string): Promise<FastifyReply> {
    const text = html`«${id}» is none, or it ended too long ago. <a href="/incidents">All incidents</a>`;
    return site.sendMissing(request, reply, {
      current: "incidents",
      main: renderMessage("No alert has this id.", text),
    });
  }
}
