import type { FastifyReply, FastifyRequest } from "fastify";

import { hasIdentities, sendRefusal, type Refusal } from "../access/admission.ts";
import type { AccessSettings } from "../access/settings.ts";
import { isLedToSignIn, leadToSignIn } from "../sign-in/lead.ts";
import { signInPath } from "../sign-in/next.ts";
import { sendText } from "./answer.ts";
import type { Documents } from "./documents.ts";
import type { PageModel } from "./overview/overview-model.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import { renderMessage, type PageKey } from "./parts/layout.ts";

export interface ClosedOptions {
  readonly settings: () => AccessSettings;
  readonly documents: Documents;
  readonly readModel: (request: FastifyRequest) => Promise<PageModel>;
}

/**
 * Answers a browser that may not see a page: leads it to the sign-in while nobody is named, and says why not to who is. An
 * `Authorization` decides alone, so that a wrong one is answered as the API does.
 */
export async function answerClosed(
  request: FastifyRequest,
  reply: FastifyReply,
  current: PageKey | null,
  refusal: Refusal,
  { settings, documents, readModel }: ClosedOptions,
): Promise<FastifyReply> {
  const access = settings();
  if (refusal.status === 401 && request.headers.authorization !== undefined) return sendRefusal(reply, refusal);
  if (isLedToSignIn(request, refusal, access)) return leadToSignIn(request, reply);
  void reply.code(refusal.status);
  const main = renderRefusal(refusal, access, request.url);
  const page = access.publicRead
    ? documents.render(request, await readModel(request), { title: "Not for you · flatline", current, main })
    : documents.renderBare(request, { current, main }, null);
  return sendText(request, reply, "text/html", page);
}

function renderRefusal({ message }: Refusal, settings: AccessSettings, url: string): Html {
  const other =
    settings.tokens.length === 0 ? nothing : html` <a href="${signInPath(url)}">Sign in with another token</a>`;
  if (hasIdentities(settings)) return renderMessage("This page is not for you.", html`${message}.${other}`);
  return renderMessage(
    "This page needs a token.",
    html`None is configured: set <code>server.token</code> in flatline.yaml, then reload.`,
  );
}
