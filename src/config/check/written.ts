import type { z } from "zod";

import type { YamlPath } from "../document/problems.ts";
import type { defaultsSchema } from "../schema/organization.ts";
import type { rootSchema } from "../schema/schema.ts";
import { defaultSourceType, sourceKinds, type SourceKind, type SourceType } from "../schema/source-kinds.ts";

/** The file as it is written, after the schema found nothing wrong: defaults are not filled in. */
export type WrittenConfig = z.input<typeof rootSchema>;
export type WrittenReceiver = NonNullable<WrittenConfig["receivers"]>[number];
export type WrittenSilence = NonNullable<WrittenConfig["silences"]>[number];
export type WrittenSettings = z.input<typeof defaultsSchema>;

/** What is wrong between several values, at one of them. */
export interface Finding {
  readonly path: YamlPath;
  readonly message: string;
  readonly part?: "value" | "key";
}

/** A part of the configuration, and its path. */
export interface Part<Value> {
  readonly path: YamlPath;
  readonly value: Value;
}

/** Returns the items of a list with their paths. */
export function partsOf<Item>(list: readonly Item[] | undefined, path: YamlPath): Part<Item>[] {
  return (list ?? []).map((value, index) => ({ path: [...path, index], value }));
}

/** Returns one key of each part that has it. */
export function keysOf<Of extends object, Key extends keyof Of & string>(
  parts: readonly Part<Of>[],
  key: Key,
): Part<Exclude<Of[Key], undefined>>[] {
  return parts.flatMap(({ path, value: { [key]: value } }) =>
    value === undefined ? [] : [{ path: [...path, key], value: value as Exclude<Of[Key], undefined> }],
  );
}

/** `defaults`, and every organization that is more than a slug. */
export function settingsOf(config: WrittenConfig): Part<WrittenSettings>[] {
  const own = partsOf(config.organizations, ["organizations"]).flatMap(({ path, value }) =>
    typeof value === "string" ? [] : [{ path, value }],
  );
  return [{ path: ["defaults"], value: config.defaults ?? {} }, ...own];
}

/** Returns the kind of the source, with its name. */
export function kindOfSource({ source }: WrittenConfig): SourceKind & { readonly type: SourceType } {
  const type = source.type ?? defaultSourceType;
  return { type, ...sourceKinds[type] };
}
