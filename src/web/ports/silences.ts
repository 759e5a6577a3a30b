import type { Actor } from "../../contract/actor.ts";
import type { ListedSilence } from "../../contract/silence.ts";
import type { NewSilence, SilenceChange } from "../../store/alerts/silences.ts";

export interface SilencesPort {
  /** Those of the configuration, then those made at run time that have not ended. */
  list(): Promise<readonly ListedSilence[]>;
  add(silence: NewSilence, author: Actor): Promise<ListedSilence>;
  /** Changes its end or comment. @throws FlatlineError not_found, conflict (it has ended), invalid_data */
  change(id: string, change: SilenceChange, author: Actor): Promise<ListedSilence>;
  /** Ends it now. False: no such silence, or it has ended. */
  expire(id: string, author: Actor): Promise<boolean>;
  /** The organization, or the pattern of them; null: no such silence. */
  slugOf(id: string): Promise<string | null>;
}
