import type { z } from "zod";

import { layered } from "../../base/layers.ts";
import type { YamlPath } from "../../base/yaml-text.ts";
import { builtinSettings, type defaultsSchema } from "../schema/organization.ts";
import type { rootSchema } from "../schema/schema.ts";
import { defaultSourceType, sourceKinds, type SourceType } from "../schema/source.ts";

/** The file as it is written, after the schema found nothing wrong: defaults are not filled in. */
export type WrittenConfig = z.input<typeof rootSchema>;
export type WrittenSettings = z.input<typeof defaultsSchema>;

/** What is wrong between several values, at one of them. */
export interface Finding {
  readonly path: YamlPath;
  readonly message: string;
  readonly part?: "key" | undefined;
}

/** A part of the configuration, and its path. */
export interface Part<Value> {
  readonly path: YamlPath;
  readonly value: Value;
}

/** What rules look at, and where they say what they find. */
export interface Look {
  readonly config: WrittenConfig;
  readonly source: (typeof sourceKinds)[SourceType] & { readonly type: SourceType };
  readonly defaults: WrittenSettings;
  /** `defaults`, and every organization that is more than a slug. */
  readonly settings: readonly Part<WrittenSettings>[];
  /** Says what is wrong at a path, and false: nothing is. */
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

/** Returns the names of the items of a list with their paths: the text of a `key`, or an item that is a text. */
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

/** Returns the thresholds of settings over those of `defaults`. */
export function thresholdsOf({ defaults }: Pick<Look, "defaults">, { thresholds }: WrittenSettings) {
  return layered(builtinSettings.thresholds, defaults.thresholds, thresholds);
}
