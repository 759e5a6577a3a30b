import type { Received } from "./server.ts";

/** A message as a person reads it. */
export interface Message {
  /** Epoch ms. */
  readonly atMs: number;
  readonly alerts: readonly { readonly slug: string; readonly status: "firing" | "resolved" }[];
  /** Its sentences, without names and numbers that only a program reads. */
  readonly text: string;
}

type Alert = Message["alerts"][number];

interface FlatlineBody {
  readonly summary: string;
  readonly alerts: readonly (Alert & {
    readonly result: {
      readonly findings: readonly { readonly message: string }[];
      readonly suggestedAction: string | null;
    } | null;
  })[];
}

interface AlertmanagerBody {
  readonly alerts: readonly {
    readonly status: Alert["status"];
    readonly labels: { readonly slug: string };
    readonly annotations: { readonly summary: string };
  }[];
}

/** Parses flatline's webhook: the summary, then the findings and the suggested action of each alert. */
export function flatlineMessage({ atMs, body }: Received): Message {
  const { summary, alerts } = JSON.parse(body) as FlatlineBody;
  const sentences = alerts.flatMap(({ result }) => [
    ...(result?.findings ?? []).map(({ message }) => message),
    result?.suggestedAction ?? "",
  ]);
  return { atMs, alerts, text: textOf([summary, ...sentences]) };
}

/** Parses Alertmanager's webhook: the summary of each alert, which is all that its rule could write. */
export function alertmanagerMessage({ atMs, body }: Received): Message {
  const { alerts } = JSON.parse(body) as AlertmanagerBody;
  return {
    atMs,
    alerts: alerts.map(({ status, labels: { slug } }) => ({ slug, status })),
    text: textOf(alerts.map(({ status, annotations }) => `[${status}] ${annotations.summary}`)),
  };
}

function textOf(sentences: readonly string[]): string {
  return [...new Set(sentences)].filter((sentence) => sentence !== "").join("\n");
}

/** Returns the seconds from `fromMs` until a message said this of an organization; null: never. */
export function secondsUntil(
  messages: readonly Message[],
  slug: string,
  status: Alert["status"],
  fromMs: number,
): number | null {
  const found = messages.find(
    ({ atMs, alerts }) => atMs >= fromMs && alerts.some((one) => one.slug === slug && one.status === status),
  );
  return found === undefined ? null : (found.atMs - fromMs) / 1_000;
}
