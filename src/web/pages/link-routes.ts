import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { ByteBudget } from "../../base/request-body.ts";
import type { Clock } from "../../base/time.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { LinkAnswer, LinkParts, Links } from "./link.ts";
import { personNameOf, receiveForm } from "../form.ts";
import { sendText } from "../answer.ts";
import { addResource } from "../resource.ts";
import { renderLinkPage } from "./link.ts";
import { renderSheet } from "./sheet.ts";
import { themeOf } from "./site.ts";

export interface LinkRoutes {
  readonly links: Links;
  readonly clock: Clock;
  readonly bodies: ByteBudget;
}

/** `/act/acknowledge/…`: the links of messages. Looking changes nothing, however often it is done; only the form of the page acts. */
export function addLinkRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { links, clock, bodies }: LinkRoutes,
): void {
  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: LinkAnswer,
    wasFollowed: boolean,
  ): Promise<FastifyReply> => {
    if (answer.kind === "refused" && answer.reason === "altered") request.failedVia = "link";
    void reply.code(statusOf(answer, wasFollowed)).header("cache-control", "no-store");
    const content = renderLinkPage(answer, wasFollowed, clock.nowMs());
    const text = renderSheet({ ...content, theme: themeOf(request) });
    // Its address is what lets act.
    return sendText(request, reply, "text/html", text, "no-referrer");
  };
  addResource(scope, "/act/acknowledge/:incident", settings, {
    GET: {
      access: "open",
      handle: async (request, reply) => send(request, reply, await links.look(partsOf(request)), false),
    },
    POST: {
      access: "open",
      handle: async (request, reply) => {
        const form = await receiveForm(request, reply, { mostBytes: mostFormBytes, budget: bodies });
        return send(request, reply, await links.follow(partsOf(request), personNameOf(form)), true);
      },
    },
  });
}

function partsOf(request: FastifyRequest): LinkParts {
  const { incident } = request.params as { readonly incident: string };
  const { searchParams } = new URL(request.url, "http://flatline.invalid");
  const given = (name: string): string => searchParams.get(name) ?? "";
  return { incident, receiver: given("receiver"), until: given("until"), signature: given("signature") };
}

// A name and its field.
const mostFormBytes = 1_024;

function statusOf(answer: LinkAnswer, wasFollowed: boolean): number {
  if (answer.kind === "refused") return 403;
  if (!wasFollowed) return 200;
  return answer.outcome === "no_alert" ? 409 : 200;
}
