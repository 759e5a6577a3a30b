import type { z } from "zod";

import { receiverKind } from "../../receivers/receivers.ts";
import type { ReceiverKind } from "../../receivers/kind.ts";
import { known, refused, type Accepted } from "../document/accepted.ts";
import type { YamlPath } from "../document/problems.ts";
import type { defaultsSchema } from "../schema/organization.ts";
import type { rootSchema } from "../schema/schema.ts";
import { defaultSourceType, sourceKinds, type SourceKind, type SourceType } from "../schema/source-kinds.ts";

type Known<Value> = Exclude<Value, typeof refused>;

/** The file as it is written, parsed: defaults not filled in. */
export type WrittenConfig = Known<Accepted<z.input<typeof rootSchema>>>;
export type WrittenSource = Known<NonNullable<WrittenConfig["source"]>>;
export type WrittenDiscover = Known<Known<NonNullable<WrittenConfig["discover"]>>[number]>;
export type WrittenReceiver = Known<Known<NonNullable<WrittenConfig["receivers"]>>[number]>;
export type WrittenSilence = Known<Known<NonNullable<WrittenConfig["silences"]>>[number]>;
export type WrittenServer = Known<NonNullable<WrittenConfig["server"]>>;
export type WrittenToken = Known<Known<NonNullable<WrittenServer["tokens"]>>[number]>;
export type WrittenSettings = Known<Accepted<z.input<typeof defaultsSchema>>>;

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

/** Returns the items of a list that were accepted. */
export function partsOf<Item>(
  list: readonly Item[] | typeof refused | undefined,
  path: YamlPath,
): Part<Exclude<Item, typeof refused>>[] {
  return (known(list) ?? []).flatMap((item, index) => {
    const value = known(item);
    return value === undefined ? [] : [{ path: [...path, index], value }];
  });
}

/** Returns the type of a receiver; undefined if it was refused. */
export function kindOf({ type }: WrittenReceiver): ReceiverKind | undefined {
  const accepted = known(type);
  return accepted === undefined ? undefined : receiverKind(accepted);
}

/** Returns the tokens of the server. */
export function tokensOf(config: WrittenConfig): Part<WrittenToken>[] {
  return partsOf(known(config.server)?.tokens, ["server", "tokens"]);
}

/** `defaults`, and every organization that is more than a slug. */
export function settingsOf(config: WrittenConfig): Part<WrittenSettings>[] {
  const defaults = { path: ["defaults"], value: known(config.defaults) ?? {} };
  const own = partsOf(config.organizations, ["organizations"]).flatMap(({ path, value }) =>
    typeof value === "string" ? [] : [{ path, value }],
  );
  return [defaults, ...own];
}

/** Returns the kind of the source as it is written, with its name; null: it was refused. */
export function writtenKind(config: WrittenConfig): (SourceKind & { readonly type: SourceType }) | null {
  const source = known(config.source);
  if (source === undefined || source.type === refused) return null;
  const type = source.type ?? defaultSourceType;
  return { type, ...sourceKinds[type] };
}
