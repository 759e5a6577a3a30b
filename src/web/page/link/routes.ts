import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { type ByteBudget, receiveBody } from "../../../base/request-body.ts";
import type { Clock } from "../../../base/time.ts";
import type { AccessSettings } from "../../access/settings.ts";
import type { LinkAnswer, LinkParts, LinksPort } from "../../ports/outside.ts";
import { addResource } from "../../resource.ts";
import { sendText } from "../answer.ts";
import { renderLinkPage } from "./link-page.ts";

/** `/act/…`: the links of messages. Looking changes nothing, however often it is done; only the form of the page acts. */
export function addLinkRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { links, clock, bodies }: { readonly links: LinksPort; readonly clock: Clock; readonly bodies: ByteBudget },
): void {
  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: LinkAnswer,
    wasFollowed: boolean,
  ): Promise<FastifyReply> => {
    if (answer.kind === "refused" && answer.reason === "altered") request.failedVia = "link";
    void reply
      .code(statusOf(answer, wasFollowed))
      .headers({ "referrer-policy": "no-referrer", "cache-control": "no-store" });
    return sendText(request, reply, "text/html", renderLinkPage(answer, wasFollowed, clock.nowMs()));
  };
  addResource(scope, "/act/:act/:alertId", settings, {
    GET: {
      access: "open",
      handle: async (request, reply) => send(request, reply, await links.look(partsOf(request)), false),
    },
    POST: {
      access: "open",
      handle: async (request, reply) => {
        const name = await nameOf(request, reply, bodies);
        return send(request, reply, await links.follow(partsOf(request), name), true);
      },
    },
  });
}

function partsOf(request: FastifyRequest): LinkParts {
  const { act, alertId } = request.params as { readonly act: string; readonly alertId: string };
  const { searchParams } = new URL(request.url, "http://flatline.invalid");
  const given = (name: string): string => searchParams.get(name) ?? "";
  return { act, alertId, receiver: given("receiver"), until: given("until"), signature: given("signature") };
}

// A name and its field.
const mostFormBytes = 1_024;
const longestName = 64;

/** What the form says of who sends it; null: nothing that is a name of printable characters. */
async function nameOf(request: FastifyRequest, reply: FastifyReply, budget: ByteBudget): Promise<string | null> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim();
  if (type !== "application/x-www-form-urlencoded") return null;
  const body = await receiveBody(request.raw, reply.raw, { mostBytes: mostFormBytes, budget });
  const name = new URLSearchParams(body.toString()).get("name")?.trim() ?? "";
  return name.length >= 1 && name.length <= longestName && /^[^\p{C}]+$/u.test(name) ? name : null;
}

function statusOf(answer: LinkAnswer, wasFollowed: boolean): number {
  if (answer.kind === "refused") return 403;
  if (!wasFollowed) return 200;
  if (answer.outcome === "opens_gate") return 403;
  return answer.outcome === "no_alert" ? 409 : 200;
}
