import type { z } from "zod";

import { layered } from "../../base/layers.ts";
import type { YamlPath } from "../../base/yaml-text.ts";
import { builtinSettings, type defaultsSchema } from "../schema/organization.ts";
import type { rootSchema } from "../schema/schema.ts";
import { defaultSourceType, sourceKinds, type SourceType } from "../schema/source.ts";

/** The file as it is written, valid, without defaults. */
export type WrittenConfig = z.input<typeof rootSchema>;
export type WrittenSettings = z.input<typeof defaultsSchema>;

/** A problem between several values, at one of them. */
export interface Finding {
  readonly path: YamlPath;
  readonly message: string;
  readonly part?: "key" | undefined;
}

export interface Part<Value> {
  readonly path: YamlPath;
  readonly value: Value;
}

/** The input of the rules, and their findings. */
export interface Look {
  readonly config: WrittenConfig;
  readonly source: (typeof sourceKinds)[SourceType] & { readonly type: SourceType };
  readonly defaults: WrittenSettings;
  /** `defaults`, and the organizations that are more than a slug. */
  readonly settings: readonly Part<WrittenSettings>[];
  /** Adds a finding at a path; false: none. */
  readonly say: (path: YamlPath, message: string | false, part?: "key") => void;
  readonly findings: readonly Finding[];
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
    say: (path, message, part) => message !== false && findings.push({ path, message, part }),
    findings,
  };
}

/** Returns the items of a list with their paths. */
export function partsOf<Item>(list: readonly Item[] | undefined, ...path: YamlPath): Part<Item>[] {
  return (list ?? []).map((value, index) => ({ path: [...path, index], value }));
}

/** Returns the names of the items of a list with their paths: the text at `key`, or the item itself. */
export function namesOf<Key extends string>(
  list: readonly (string | Readonly<Record<Key, string>>)[] | undefined,
  key: Key,
  ...path: YamlPath
): Part<string>[] {
  return partsOf(list, ...path).map((one) =>
    typeof one.value === "string"
      ? { path: one.path, value: one.value }
      : { path: [...one.path, key], value: one.value[key] },
  );
}

/** Returns thresholds merged with those of `defaults` and the built-in ones. */
export function thresholdsOf({ defaults }: Pick<Look, "defaults">, { thresholds }: WrittenSettings) {
  return layered(builtinSettings.thresholds, defaults.thresholds, thresholds);
}
