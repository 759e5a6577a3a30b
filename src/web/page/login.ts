import type { FastifyReply, FastifyRequest } from "fastify";

import { hasIdentities, type Refusal } from "../access/admission.ts";
import type { AccessSettings } from "../access/settings.ts";
import { pathOf } from "../problem.ts";
import { sendText } from "./answer.ts";
import type { Documents } from "./documents.ts";
import type { PageModel } from "./overview/overview-model.ts";
import { html, type Html } from "../parts/html.ts";
import { renderMessage, type PageKey } from "./parts/layout.ts";

export interface LoginOptions {
  readonly settings: () => AccessSettings;
  readonly documents: Documents;
  readonly readModel: (request: FastifyRequest) => Promise<PageModel>;
}

/** Returns whether the request is from a browser. */
export function wantsHtml(request: FastifyRequest): boolean {
  return (request.headers.accept ?? "").includes("text/html");
}

/** Answers 401 with the page that asks for the token, in one step: the field is on it; 403 with one that says why. */
export async function sendLogin(
  request: FastifyRequest,
  reply: FastifyReply,
  current: PageKey | null,
  refusal: Refusal,
  { settings, documents, readModel }: LoginOptions,
): Promise<FastifyReply> {
  const { publicRead } = settings();
  const mayLogIn = refusal.status === 401;
  // A browser writes each 401 of a script onto its console as an error: the link to this page is none.
  const isFirstAsk = isScript(request) && request.headers.authorization === undefined;
  void reply.code(mayLogIn && isFirstAsk ? 200 : refusal.status);
  if (mayLogIn && asksForBasic(request, publicRead)) void reply.header("www-authenticate", refusal.challenges);
  const main = mayLogIn ? renderLogin(publicRead, pathOf(request.url)) : renderForbidden(refusal, settings());
  const page = publicRead
    ? documents.render(await readModel(request), { title: "Log in · flatline", current, main })
    : documents.renderBare({ current, main }, null);
  return sendText(request, reply, "text/html", page);
}

/**
 * A browser that is sent a challenge shows a dialog of its own, for a name and a password, on top of the page. It is sent
 * where scripts cannot log in: where reading is closed they are, too, and where a user without scripts asks for it.
 */
function asksForBasic(request: FastifyRequest, publicRead: boolean): boolean {
  if (isScript(request)) return false;
  return !publicRead || /[?&]basic(?:&|=|$)/.test(request.url);
}

/** The page's own script, which shows what it gets in the place of what is shown. */
function isScript(request: FastifyRequest): boolean {
  return request.headers["x-requested-with"] === "flatline";
}

function renderForbidden({ message }: Refusal, settings: AccessSettings): Html {
  if (hasIdentities(settings)) return renderMessage("This page is not for you.", html`${message}.`);
  return renderMessage(
    "This page needs a token.",
    html`None is configured: set <code>server.token</code> in flatline.yaml, then reload.`,
  );
}

function renderLogin(publicRead: boolean, path: string): Html {
  const where = html`It is <code>server.token</code> of the configuration`;
  if (!publicRead)
    return renderMessage("This page needs a token.", html`${where}, given as the password with any name.`);
  return html`${renderMessage("This page needs a token.", html`${where}, kept until this tab is closed.`)}
    <form id="login" class="login" method="get" action="${path}">
      <label for="token">Token</label>
      <input id="token" name="token" type="password" autocomplete="off" required autofocus />
      <button class="primary">Log in</button>
      <p class="problem-line bad" id="login-problem" role="alert"></p>
    </form>
    <noscript
      ><p class="why"><a href="${path}?basic">Log in without scripts</a>: as the password, with any name.</p></noscript
    >`;
}
