import type { z } from "zod";

import type { IncidentMessages, Receiver } from "../alerting/deliver/receiver.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import type { Logger } from "../base/logger.ts";
import { secret } from "../base/schema/secret-rules.ts";
import type { Section } from "../base/schema/section.ts";
import { checkHttpUrl, type KeyProblem } from "../base/schema/values.ts";

/** Dependencies of every receiver. */
export interface ReceiverDeps {
  /** Honours the proxies of the environment (base/http-dispatcher.ts); its owner closes it. */
  readonly dispatcher: HttpDispatcher;
  /** Makes the address by which a reader acknowledges an incident, signed at the time of an attempt [null: there is none]. */
  readonly signLink?: ((incident: number, receiver: string, nowMs: number) => string) | null;
  /** What incidents are shown by [null: each notification is a message of its own]. */
  readonly messages?: IncidentMessages | null;
  /** A receiver of type log writes to it. */
  readonly logger: Logger;
}

/** A receiver as it is written: any value may be absent. */
export type WrittenReceiver = Readonly<Record<string, unknown>>;

/** A receiver of a type, with the keys of the type as they were read. */
export type OptionsOf<Type extends string, Of extends Shape> = Section<Of> & Named & { readonly type: Type };
type Shape = z.core.$ZodLooseShape;
interface Named {
  readonly name: string;
}

/** What a type makes of a receiver, which has its name and type already. */
export type Delivering = Omit<Receiver, "name" | "type">;

/** Everything that depends on the type of a receiver: its keys in the configuration and its requests (CONTRACT 4 and 7). */
export interface ReceiverKind {
  /** Describes it in the reference of the configuration. */
  readonly summary: string;
  /** The keys of this type; all receivers have the others. */
  readonly shape: Shape;
  /** Whether people read its messages and follow their links. */
  readonly hasLinks?: true;
  /** Returns why it cannot send a label of this name; null if it can. */
  checkLabel?(name: string): string | null;
  /** Returns whether it shows an incident as a thread: it is then notified of acts where the configuration does not say [it does not]. */
  hasThreads?(options: Named): boolean;
  /** It calls people until an incident is acknowledged there: it is told when all of its part is acknowledged here. */
  readonly takesAcknowledgements?: true;
  /** It knows alerts only, and no acts. */
  readonly isWithoutActs?: true;
  /** Returns the problems between its keys, each of which is right. */
  readonly rules?: (values: WrittenReceiver) => readonly KeyProblem[];
  /** Returns what is wrong and takes longer to find. */
  check?(written: WrittenReceiver): Promise<readonly KeyProblem[]>;
  create(options: Named, deps: ReceiverDeps): Delivering;
}

export const urlShape = {
  url: secret(checkHttpUrl).describe("Where it is posted to. A secret."),
};
