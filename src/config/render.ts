import { Document, visit } from "yaml";
import { z } from "zod";

import { escapeUnseen } from "../base/unseen-text.ts";
import type { YamlPath } from "./document/problems.ts";
import type { Config, DiscoverConfig, OrganizationConfig, ServerConfig, SourceConfig } from "./config.ts";
import { oneTokenName } from "../contract/rights.ts";
import { discoverShape } from "./schema/discover.ts";
import { organizationShape } from "./schema/organization.ts";
import { receiverSchema } from "./schema/receiver.ts";
import { rootShape, serverShape, storageShape } from "./schema/schema.ts";
import { writtenAs } from "../base/schema/section.ts";

/**
 * Returns the effective configuration under the names of the file, as plain data: everything that has a default is there, every
 * organization is merged, secrets are `***`. Without secrets it can be loaded again and means the same.
 */
export function describeConfig(config: Config): Record<string, unknown> {
  const { defaults, discover, server, storage } = config;
  const described = plain(
    writtenAs(
      rootShape,
      { ...config, source: withTable(config.source) },
      {
        defaults: defaults.baseline === "mean" ? null : defaults,
        // Discovered organizations are no part of the file, which means the same without them.
        organizations: config.organizations
          .filter(({ discoveredBy }) => discoveredBy === null)
          .map(describeOrganization),
        discover: discover.length === 0 ? null : discover.map(describeDiscover),
        receivers: config.receivers.map((receiver) => z.encode(receiverSchema, receiver)),
        server: writtenAs(serverShape, server, { tokens: describeTokens(server) }),
        storage: writtenAs(storageShape, storage, storage.url === null ? { poolSize: null } : { path: null }),
      },
    ),
  );
  // Those of organizations are hidden with each of them.
  for (const path of config.hidden) if (path[0] !== "organizations") hide(described, path);
  return described;
}

/** Replaces what was written at `path`, or what was made of it, where it is. */
function hide(described: Readonly<Record<string, unknown>>, path: YamlPath): void {
  let object = described as Record<string | number, unknown>;
  for (const [index, step] of path.entries()) {
    const value = object[step];
    // A list of healthchecks is not in the order of the file.
    const isLast = index === path.length - 1 || step === "healthchecks" || typeof value !== "object" || value === null;
    if (isLast && value !== undefined && value !== null) object[step] = "***";
    if (isLast) return;
    object = value as Record<string | number, unknown>;
  }
}

/** Returns the tokens that have a name; null when there are none. */
function describeTokens({ tokens }: ServerConfig): readonly object[] | null {
  const named = tokens.filter(({ name }) => name !== oneTokenName);
  if (named.length === 0) return null;
  return named.map(({ name, secret, rights, slugs }) => ({ name, token: secret, may: [...rights], slugs }));
}

/** {@link describeConfig} as YAML, in which dollars are doubled where they would not be read as themselves. */
export function renderConfig(config: Config): string {
  const doubled = plain(describeConfig(config), (text) =>
    text.replaceAll(/\$+\{|\${2,}/g, (dollars) => dollars.replaceAll("$", "$$$$")),
  );
  const document = new Document(doubled, { aliasDuplicateObjects: false });
  // Unseen characters can be written as escapes, between double quotes only.
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === "string" && escapeUnseen(node.value) !== node.value) node.type = "QUOTE_DOUBLE";
    },
  });
  return escapeUnseen(document.toString({ lineWidth: 0 }));
}

/** JSON's view: Secret values become `***`, what is null is left out, as if it were not in the file. */
function plain(value: unknown, change: (text: string) => string = (text) => text): Record<string, unknown> {
  const text = JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === "string") return change(member);
    return member === null ? undefined : member;
  });
  return JSON.parse(text) as Record<string, unknown>;
}

/** Returns a source with the keys of its table beside the others, as the file has them. */
function withTable(source: SourceConfig): object {
  if (!("events" in source)) return source;
  const { events } = source;
  if (events.kind === "query") return { ...source, ...events };
  return { ...source, ...events, deadStatuses: events.columns.status === null ? null : events.deadStatuses };
}

/** Returns the effective settings of an organization under the names of the file; what is null has no default and is not set. */
export function describeOrganization(organization: OrganizationConfig): Readonly<Record<string, unknown>> {
  const described = writtenAs(organizationShape, organization);
  if (organization.hidden.length === 0) return described;
  const shown = plain(described);
  for (const path of organization.hidden) hide(shown, path);
  return shown;
}

/** Returns the labels of an organization as they are shown. */
export function shownLabels({
  labels,
  hidden,
}: Pick<OrganizationConfig, "labels" | "hidden">): OrganizationConfig["labels"] {
  const shown = { ...labels };
  for (const [key, name] of hidden) if (key === "labels" && name !== undefined) shown[name] = "***";
  return shown;
}

function describeDiscover({ location, ...source }: DiscoverConfig): object {
  const place = location.kind === "file" ? { file: location.path } : location;
  const headers = location.kind === "file" || Object.keys(location.headers).length === 0 ? null : location.headers;
  return writtenAs(discoverShape, { ...source, ...place }, { headers });
}
