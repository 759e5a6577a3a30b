import { Document, visit } from "yaml";
import { z } from "zod";

import { escapeUnseen } from "../base/outside-text.ts";
import { oneTokenName } from "../contract/rights.ts";
import type { Config, OrganizationConfig } from "./config.ts";
import type { YamlPath } from "../base/yaml-text.ts";
import { organizationObject, type OrganizationInput } from "./schema/organization.ts";
import { rootSchema } from "./schema/schema.ts";

type Shown = Record<string | number, unknown>;

/** Returns the effective configuration in the form of the file; secrets are `***`. Without secrets it can be loaded. */
export function describeConfig(config: Config): Record<string, unknown> {
  const { server, storage, hidden } = config;
  // Discovered organizations are not part of the file.
  const organizations = config.organizations.filter(({ discoveredBy }) => discoveredBy === null);
  const tokens = server.tokens.filter(({ name }) => name !== oneTokenName);
  const written = { ...config, organizations: [], server: { ...server, tokens } };
  const shown: Shown = z.encode(rootSchema, written);
  delete (shown["storage"] as Shown)[storage.url === null ? "poolSize" : "path"];
  hide(shown, hidden);
  return { ...shown, organizations: organizations.map(describeOrganization) };
}

/** Returns the effective settings of an organization in the form of the file, without empty ones. */
export function describeOrganization(organization: OrganizationConfig): Record<string, unknown> {
  const shown: Shown = z.encode(organizationObject, organization as OrganizationInput);
  hide(shown, organization.hidden);
  return shown;
}

/** Replaces the values at the paths by `***`. */
function hide(shown: Shown, paths: readonly YamlPath[]): void {
  for (const path of paths) {
    let object = shown;
    for (const [index, step] of path.entries()) {
      const value = object[step];
      // Healthchecks are not in the order of the file, so that all are hidden.
      const isLast =
        index === path.length - 1 || step === "healthchecks" || typeof value !== "object" || value === null;
      if (isLast && value !== undefined) object[step] = "***";
      if (isLast) break;
      object = value as Shown;
    }
  }
}

/** Returns {@link describeConfig} as YAML; dollars that would be replaced are doubled. */
export function renderConfig(config: Config): string {
  const document = new Document(describeConfig(config), { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (key, node) => {
      const { value } = node;
      if (typeof value !== "string") return;
      if (key !== "key") node.value = value.replaceAll(/\$+\{|\${2,}/g, (dollars) => dollars.replaceAll("$", "$$$$"));
      // Only double quotes can have escapes of unseen characters.
      if (escapeUnseen(value) !== value) node.type = "QUOTE_DOUBLE";
    },
  });
  return escapeUnseen(document.toString({ lineWidth: 0 }));
}

/** Returns the labels of an organization; hidden ones are `***`. */
export function shownLabels({
  labels,
  hidden,
}: Pick<OrganizationConfig, "labels" | "hidden">): OrganizationConfig["labels"] {
  const shown = { ...labels };
  for (const [key, name] of hidden) if (key === "labels" && name !== undefined) shown[name] = "***";
  return shown;
}
