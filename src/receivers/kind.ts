import type { z } from "zod";

import type { IncidentMessages, Receiver } from "../alerting/deliver/receiver.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import type { Logger } from "../base/logger.ts";
import { secret } from "../base/schema/secret-rules.ts";
import type { Section } from "../base/schema/section.ts";
import { checkHttpUrl, type KeyProblem } from "../base/schema/values.ts";

export interface ReceiverDeps {
  /** Uses the proxies of the environment (base/http-dispatcher.ts); its owner closes it. */
  readonly dispatcher: HttpDispatcher;
  /** Returns the address that acknowledges an incident, signed for one attempt [null: there is none]. */
  readonly signLink?: ((incident: number, receiver: string, nowMs: number) => string) | null;
  /** The messages that show incidents [null: each notification is a message of its own]. */
  readonly messages?: IncidentMessages | null;
  /** The type log writes to it. */
  readonly logger: Logger;
}

/** A receiver as the file has it: any value may be absent. */
export type WrittenReceiver = Readonly<Record<string, unknown>>;

export type OptionsOf<Type extends string, Of extends Shape> = Section<Of> & Named & { readonly type: Type };
type Shape = z.core.$ZodLooseShape;
interface Named {
  readonly name: string;
}

/** A type's part of a receiver, which has its name and type already. */
export type Delivering = Omit<Receiver, "name" | "type">;

/** All that depends on a receiver's type: its keys in the configuration and its requests (CONTRACT 4 and 7). */
export interface ReceiverKind {
  readonly summary: string;
  readonly shape: Shape;
  /** People read its messages and follow their links. */
  readonly hasLinks?: true;
  /** Returns why it cannot send a label of this name; null: it can. */
  checkLabel?(name: string): string | null;
  /** Returns whether it shows an incident as a thread: it then gets acts, unless the configuration says otherwise. */
  hasThreads?(options: Named): boolean;
  /** Returns its recipients, each with deliveries of its own; without it there is only one. */
  recipients?(options: Named): readonly string[];
  /** It calls people until an incident is acknowledged: it is told when all of its alerts are acknowledged here. */
  readonly takesAcknowledgements?: true;
  /** It has alerts only, no acts. */
  readonly isWithoutActs?: true;
  /** Returns the problems between keys that are valid alone. */
  readonly rules?: (values: WrittenReceiver) => readonly KeyProblem[];
  /** Returns problems that take longer to find. */
  check?(written: WrittenReceiver): Promise<readonly KeyProblem[]>;
  create(options: Named, deps: ReceiverDeps): Delivering;
}

export const urlShape = {
  url: secret(checkHttpUrl).describe("Where it is posted to. A secret."),
};
