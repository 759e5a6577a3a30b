import type { Severity } from "../../contract/severity.ts";

/** What another service says of the incidents that alerts opened there. */
export interface HooksPort {
  /** Returns whether a receiver of PagerDuty has this name and a secret with which webhooks are signed. */
  isSigning(receiver: string): boolean;
  /**
   * Applies a webhook of PagerDuty. `unsigned`: it is not of that receiver's secret; `ignored`: it is about nothing that
   * changes an alert; else what became of it. @throws FlatlineError invalid_data for a signed body that is no webhook
   */
  pagerduty(webhook: {
    readonly receiver: string;
    readonly body: Uint8Array;
    readonly signature: string;
  }): Promise<"unsigned" | "ignored" | "applied" | "repeated" | "late" | "no_alert" | "unchanged" | "opens_gate">;
}

/** The parts of a link of a message, as they came. */
export interface LinkParts {
  readonly act: string;
  readonly alertId: string;
  readonly receiver: string;
  readonly until: string;
  readonly signature: string;
}

/** A link that holds: what following it does, or did. */
export interface LinkView {
  readonly kind: "known";
  readonly act: "acknowledge" | "silence";
  readonly alertId: string;
  readonly receiver: string;
  readonly expiresAtMs: number;
  readonly outcome: "applied" | "repeated" | "late" | "no_alert" | "unchanged" | "opens_gate";
  /** What it is of, an alert or an incident; null once that has ended. */
  readonly alert: { readonly slug: string; readonly severity: Severity; readonly words: string } | null;
  /** Whether the alert may hold the gate. */
  readonly holdsGate: boolean;
}

export type LinkAnswer = LinkView | { readonly kind: "refused"; readonly reason: "altered" | "expired" };

export interface LinksPort {
  /** What the link would do; changes nothing. */
  look(link: LinkParts): Promise<LinkAnswer>;
  /** Does it, once; `name` is what who follows it says to be called, null: nothing. */
  follow(link: LinkParts, name: string | null): Promise<LinkAnswer>;
}
