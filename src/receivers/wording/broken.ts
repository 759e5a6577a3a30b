import type { Notification, SampledAsset } from "../../alerting/notify/notification.ts";
import { breakAddress, breakAddresses, ownOrigins } from "../../base/broken-address.ts";
import { brokenResult } from "../../contract/healthcheck.ts";
import type { NotificationPayload } from "../payload.ts";
import type { Fact, Message, MessageSection } from "./message.ts";
import { instantText } from "../../words/numbers.ts";
import { plainText } from "./text.ts";

/** Returns the own origins of a notification: those that its links have. */
export function originsOf({ externalUrl, alerts }: Pick<Notification, "externalUrl" | "alerts">): string[] {
  return ownOrigins(externalUrl, ...alerts.map(({ url }) => url));
}

/** Returns the lines of some dead assets: `hxxps://login[.]acme[.]example (URL, 15 Jan 09:40 UTC)`. */
export function sampleLines(sample: readonly SampledAsset[] | undefined, nowMs: number): string[] {
  return (sample ?? []).map(({ asset, assetType, deadAtMs }) => {
    const type = assetType === null ? "" : `${plainText(assetType)}, `;
    return `${breakAddress(plainText(asset))} (${type}${instantText(deadAtMs, nowMs)})`;
  });
}

/** Returns the message with every address broken that is not of `own`. Labels are the operator's. */
export function brokenMessage(message: Message, own: readonly string[]): Message {
  const broken = (text: string): string => breakAddresses(text, own);
  return {
    ...message,
    title: broken(message.title),
    intro: message.intro === null ? null : broken(message.intro),
    facts: brokenFacts(message.facts, own),
    sections: message.sections.map((section) => brokenSection(section, own)),
    lines: message.lines.map(broken),
    links: message.links.map((link) => ({ ...link, label: broken(link.label) })),
  };
}

/** Returns the section with every address broken that is not of `own`. */
export function brokenSection(section: MessageSection, own: readonly string[]): MessageSection {
  const broken = (text: string): string => breakAddresses(text, own);
  return {
    ...section,
    title: broken(section.title),
    sentence: broken(section.sentence),
    details: section.details === null ? null : broken(section.details),
    facts: brokenFacts(section.facts, own),
    carriers: section.carriers.map(broken),
    action: section.action === null ? null : broken(section.action),
    links: section.links.map((link) => ({ ...link, label: broken(link.label) })),
  };
}

/** The name of the fact that holds an alert's labels. */
export const labelsFact = "Labels";

function brokenFacts(facts: readonly Fact[], own: readonly string[]): Fact[] {
  return facts.map((fact) => (fact.name === labelsFact ? fact : { ...fact, value: breakAddresses(fact.value, own) }));
}

/** Returns the payload as a template sees it: addresses are broken, and `asset_raw` has the one of a dead asset as it is. */
export function templatePayload(payload: NotificationPayload, own: readonly string[]) {
  const broken = (text: string): string => breakAddresses(text, own);
  const { fleet, alerts, summary } = payload;
  return {
    ...payload,
    summary: broken(summary),
    fleet:
      fleet === null
        ? null
        : {
            ...fleet,
            markers: fleet.markers.map(({ text, at }) => ({ text: broken(text), at })),
            sample: fleet.sample.map(templateSample),
          },
    alerts: alerts.map(({ result, error, judgement, act, sample, ...alert }) => ({
      ...alert,
      judgement: judgement === null ? null : brokenComment(judgement, own),
      act: act === null ? null : brokenComment(act, own),
      result: result === null ? null : brokenResult(result, own),
      error: error === null ? null : { ...error, message: broken(error.message) },
      sample: sample.map(templateSample),
    })),
  };
}

function brokenComment<Said extends { readonly comment: string | null }>(said: Said, own: readonly string[]): Said {
  return { ...said, comment: said.comment === null ? null : breakAddresses(said.comment, own) };
}

type PayloadSample = NotificationPayload["alerts"][number]["sample"][number];

function templateSample({ asset, ...facts }: PayloadSample) {
  return { ...facts, asset: breakAddress(asset), asset_raw: asset };
}
