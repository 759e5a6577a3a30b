import type { FastifyReply, FastifyRequest } from "fastify";

import { isAuthorized, type AccessLevel } from "../access.ts";
import type { AccessSettings } from "../ports.ts";
import { pathOf } from "../problem.ts";
import { sendText } from "./answer.ts";
import type { Documents } from "./documents.ts";
import type { PageModel } from "./overview/overview-model.ts";
import { html, type Html } from "./parts/html.ts";
import { renderMessage, type PageKey } from "./parts/layout.ts";

export interface LoginOptions {
  readonly settings: () => AccessSettings;
  readonly documents: Documents;
  readonly readModel: () => Promise<PageModel>;
}

/** Whether a browser that asks for a page of this level has to log in first. */
export function mustLogIn(request: FastifyRequest, level: AccessLevel, settings: AccessSettings): boolean {
  if (level === "open" || (level === "public" && settings.publicRead)) return false;
  return wantsHtml(request) && !isAuthorized(request, settings);
}

/** Whether somebody with a browser asks. */
export function wantsHtml(request: FastifyRequest): boolean {
  return (request.headers.accept ?? "").includes("text/html");
}

/** Answers 401 or 403 with the page that asks for the token, in one step: the field is on it. */
export async function sendLogin(
  request: FastifyRequest,
  reply: FastifyReply,
  current: PageKey | null,
  { settings, documents, readModel }: LoginOptions,
): Promise<void> {
  const { token, publicRead } = settings();
  // A browser writes each 401 of a script onto its console as an error: the link to this page is none.
  const isFirstAsk = isScript(request) && request.headers.authorization === undefined;
  void reply.code(token === null ? 403 : isFirstAsk ? 200 : 401);
  if (token !== null && asksForBasic(request, publicRead))
    void reply.header("www-authenticate", ['Bearer realm="flatline"', 'Basic realm="flatline", charset="UTF-8"']);
  const main = token === null ? renderNoToken() : renderLogin(publicRead, pathOf(request.url));
  const page = publicRead
    ? documents.render(await readModel(), { title: "Log in · flatline", current, main })
    : documents.renderBare({ current, main }, null);
  await sendText(request, reply, "text/html", page);
}

/**
 * A browser that is sent a challenge shows a dialog of its own, for a name and a password, on top of the page. It is sent
 * where scripts cannot log in: where reading is closed they are, too, and where somebody without scripts asks for it.
 */
function asksForBasic(request: FastifyRequest, publicRead: boolean): boolean {
  if (isScript(request)) return false;
  return !publicRead || /[?&]basic(?:&|=|$)/.test(request.url);
}

/** The page's own script, which shows what it gets in the place of what is shown. */
function isScript(request: FastifyRequest): boolean {
  return request.headers["x-requested-with"] === "flatline";
}

function renderNoToken(): Html {
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
