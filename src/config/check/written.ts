import type { z } from "zod";

import { layered } from "../../base/layers.ts";
import type { YamlPath } from "../document/problems.ts";
import { builtinSettings, type defaultsSchema } from "../schema/organization.ts";
import type { rootSchema } from "../schema/schema.ts";
import { defaultSourceType, sourceKinds, type SourceKind, type SourceType } from "../schema/source.ts";

/** The file as it is written, after the schema found nothing wrong: defaults are not filled in. */
export type WrittenConfig = z.input<typeof rootSchema>;
export type WrittenSettings = z.input<typeof defaultsSchema>;

/** What is wrong between several values, at one of them. */
export interface Finding {
  readonly path: YamlPath;
  readonly message: string;
  readonly part?: "value" | "key";
}

/** What a rule looks at, and where it says what it finds. */
export interface Look {
  readonly config: WrittenConfig;
  readonly source: SourceKind & { readonly type: SourceType };
  readonly defaults: WrittenSettings;
  /** `defaults`, and every organization that is more than a slug. */
  readonly settings: readonly Part<WrittenSettings>[];
  readonly say: (path: YamlPath, message: string, part?: "key") => void;
  readonly findings: readonly Finding[];
}

/** A part of the configuration, and its path. */
export interface Part<Value> {
  readonly path: YamlPath;
  readonly value: Value;
}

export function lookAt(config: WrittenConfig): Look {
  const findings: Finding[] = [];
  const { defaults = {} } = config;
  const type = config.source.type ?? defaultSourceType;
  const own = partsOf(config.organizations, "organizations").flatMap(({ path, value }) =>
    typeof value === "string" ? [] : [{ path, value }],
  );
  return {
    config,
    source: { type, ...sourceKinds[type] },
    defaults,
    settings: [{ path: ["defaults"], value: defaults }, ...own],
    say: (path, message, part) => void findings.push({ path, message, ...(part === undefined ? {} : { part }) }),
    findings,
  };
}

/** Returns the items of a list with their paths. */
export function partsOf<Item>(list: readonly Item[] | undefined, ...path: YamlPath): Part<Item>[] {
  return (list ?? []).map((value, index) => ({ path: [...path, index], value }));
}

/** Returns the thresholds of settings over those of `defaults`. */
export function thresholdsOf({ defaults }: Pick<Look, "defaults">, { thresholds }: WrittenSettings) {
  return layered(builtinSettings.thresholds, defaults.thresholds, thresholds);
}
