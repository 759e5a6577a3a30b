import { Document, visit } from "yaml";
import { z } from "zod";

import { escapeUnseen } from "../base/unseen-text.ts";
import { oneTokenName } from "../contract/rights.ts";
import type { Config, OrganizationConfig } from "./config.ts";
import type { YamlPath } from "../base/yaml-text.ts";
import { organizationObject, type OrganizationInput } from "./schema/organization.ts";
import { rootSchema } from "./schema/schema.ts";

type Shown = Record<string | number, unknown>;

/** Returns the effective configuration as a file would say it, secrets as `***`; without any it can be loaded. */
export function describeConfig(config: Config): Record<string, unknown> {
  const { server, storage, hidden } = config;
  // Discovered organizations are no part of the file, which means the same without them.
  const organizations = config.organizations.filter(({ discoveredBy }) => discoveredBy === null);
  const tokens = server.tokens.filter(({ name }) => name !== oneTokenName);
  const written = { ...config, organizations: [], server: { ...server, tokens } };
  const shown: Shown = z.encode(rootSchema, written);
  delete (shown["storage"] as Shown)[storage.url === null ? "poolSize" : "path"];
  hide(shown, hidden);
  return { ...shown, organizations: organizations.map(describeOrganization) };
}

/** Returns the effective settings of an organization as a file would say them; what says nothing is not there. */
export function describeOrganization(organization: OrganizationConfig): Record<string, unknown> {
  const shown: Shown = z.encode(organizationObject, organization as OrganizationInput);
  hide(shown, organization.hidden);
  return shown;
}

/** Replaces what was written at the paths, or what was made of it, where it is. */
function hide(shown: Shown, paths: readonly YamlPath[]): void {
  for (const path of paths) {
    let object = shown;
    for (const [index, step] of path.entries()) {
      const value = object[step];
      // A list of healthchecks is not in the order of the file.
      const isLast =
        index === path.length - 1 || step === "healthchecks" || typeof value !== "object" || value === null;
      if (isLast && value !== undefined) object[step] = "***";
      if (isLast) break;
      object = value as Shown;
    }
  }
}

/** {@link describeConfig} as YAML, in which dollars are doubled where they would not be read as themselves. */
export function renderConfig(config: Config): string {
  const document = new Document(describeConfig(config), { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (key, node) => {
      const { value } = node;
      if (typeof value !== "string") return;
      if (key !== "key") node.value = value.replaceAll(/\$+\{|\${2,}/g, (dollars) => dollars.replaceAll("$", "$$$$"));
      // Unseen characters can be written as escapes, between double quotes only.
      if (escapeUnseen(value) !== value) node.type = "QUOTE_DOUBLE";
    },
  });
  return escapeUnseen(document.toString({ lineWidth: 0 }));
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
