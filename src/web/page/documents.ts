import type { FastifyRequest } from "fastify";

import type { Clock } from "../../base/time.ts";
import { hasIdentities } from "../access/admission.ts";
import { isKnownToPage, readerOf } from "../access/identity.ts";
import { signedInAs } from "../access/sessions.ts";
import type { AccessSettings } from "../access/settings.ts";
import { signInPath } from "../sign-in/next.ts";
import { worstOf } from "./overview/fleet.ts";
import type { PageModel } from "./overview/overview-model.ts";
import { countOf, formatLength } from "../parts/figures.ts";
import { renderDocument, type PageFrame } from "./parts/layout.ts";
import type { PagePort } from "./ports.ts";

/** What a page says of itself; the frame is the same for all. */
export type PageContent = Pick<PageFrame, "title" | "current" | "main"> & Partial<PageFrame>;

/** Makes whole documents of the pages' contents. */
export interface Documents {
  /** With what is known of the fleet around it. */
  render(request: FastifyRequest, model: PageModel, content: PageContent): string;
  /** Shows nothing of the fleet: where reading is closed, and where the store cannot be read. */
  renderBare(
    request: FastifyRequest,
    content: Pick<PageContent, "current" | "main">,
    storeProblem: string | null,
  ): string;
}

export interface DocumentOptions {
  readonly clock: Clock;
  readonly page: PagePort;
  readonly version: string;
  readonly settings: () => AccessSettings;
}

/** Makes the documents of one server. */
export function createDocuments({ clock, page, version, settings }: DocumentOptions): Documents {
  const hasToken = (): boolean => hasIdentities(settings());
  return {
    render: (request, model, content) =>
      renderDocument({
        severity: worstOf(model.rows),
        fleet: model.fleet,
        storeProblem: model.storeProblem,
        unattended: model.unattended,
        deadLetters: model.deadLetters,
        queued: model.queued,
        nowMs: model.nowMs,
        version,
        footer: footerOf(model, page.source()),
        hasToken: hasToken(),
        ...readingOf(request, settings()),
        scripts: ["web/client/main.js"],
        showsVerdict: true,
        ...content,
      }),
    renderBare: (request, { current, main }, storeProblem) =>
      renderDocument({
        title: "flatline",
        current,
        severity: "unknown",
        fleet: null,
        storeProblem,
        unattended: 0,
        deadLetters: 0,
        queued: 0,
        nowMs: clock.nowMs(),
        version,
        footer: "",
        hasToken: hasToken(),
        ...readingOf(request, settings()),
        scripts: [],
        main,
        showsVerdict: false,
      }),
  };
}

/** Who reads, and where to sign in. */
function readingOf(
  request: FastifyRequest,
  { tokens }: AccessSettings,
): Pick<PageFrame, "isKnown" | "reader" | "signIn"> {
  const name = readerOf(request);
  return {
    isKnown: isKnownToPage(request),
    reader: name === null ? null : { name, isSignedIn: signedInAs(request) !== null },
    signIn: tokens.length === 0 ? null : signInPath(request.url),
  };
}

function footerOf({ checks, late, spacing }: PageModel, source: string): string {
  const every = spacing === null ? "" : `${spacing.isOfAll ? "" : ", most"} every ${formatLength(spacing.intervalMs)}`;
  return `${source} · ${countOf(checks, "check")}${every}, ${late} late`;
}
