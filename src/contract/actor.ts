/** How an act reaches flatline (CONTRACT 13). */
export type ActVia = FailedVia | "cli" | "config" | "discovery";

/** How wrong credentials reach flatline. */
export const failedVias = ["token", "session", "proxy", "link", "pagerduty", "api_v2"] as const;
export type FailedVia = (typeof failedVias)[number];

export interface Actor {
  /** The name of the token or key, the proxy's user, or the operating system's user of a command. */
  readonly name: string;
  readonly via: ActVia;
  /** The operating system's user of a command that asked the daemon; not authenticated. */
  readonly user: string | null;
  /** The author that a request claims (`by`, `createdBy`), or its session; not authenticated. */
  readonly note: string | null;
}

export function actor(name: string, via: ActVia): Actor {
  return { name, via, user: null, note: null };
}

/** A command that asks the daemon names its user in this header, URL-encoded; not authenticated. */
export const userHeader = "x-flatline-user";

/** Formats an author for people: the claimed name, then the authenticated one in brackets. */
export function describeAuthor(name: string | null, note: string | null = null): string {
  if (name === null || note === null || note === name) return name ?? note ?? "";
  return `${note} (${name})`;
}

type AlertAction =
  "acknowledge" | "unacknowledge" | "judgement" | "judgement.withdraw" | "comment" | "release" | "look";
type SilenceAction = "silence.create" | "silence.change" | "silence.end";
type MarkerAction = "marker.create" | "marker.delete";
type DaemonAction = "run" | "reload" | "outbox.retry" | "outbox.discard" | "receiver.test" | "discovery.change";
type DataAction = "review" | "import.events" | "import.fixture" | "forget" | "assets.csv";
type AccessAction = "keys.create" | "keys.revoke" | "sign_in" | "sign_out";
export type Action = AlertAction | SilenceAction | MarkerAction | DaemonAction | DataAction | AccessAction;
