import type { Clock } from "../../base/time.ts";
import { hasIdentities } from "../access/admission.ts";
import type { AccessSettings } from "../access/settings.ts";
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
  render(model: PageModel, content: PageContent): string;
  /** Shows nothing of the fleet: where reading is closed, and where the store cannot be read. */
  renderBare(content: Pick<PageContent, "current" | "main">, storeProblem: string | null): string;
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
    render: (model, content) =>
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
        isKnown: false,
        scripts: ["web/client/main.js"],
        showsVerdict: true,
        ...content,
      }),
    renderBare: ({ current, main }, storeProblem) =>
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
        isKnown: false,
        scripts: [],
        main,
        showsVerdict: false,
      }),
  };
}

function footerOf({ checks, late, spacing }: PageModel, source: string): string {
  const every = spacing === null ? "" : `${spacing.isOfAll ? "" : ", most"} every ${formatLength(spacing.intervalMs)}`;
  return `${source} · ${countOf(checks, "check")}${every}, ${late} late`;
}
