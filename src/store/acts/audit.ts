import type { Action, ActVia, Actor } from "../../contract/actor.ts";

/** An act as it is written down. */
export interface AuditAct {
  readonly atMs: number;
  readonly actor: Actor;
  readonly action: Action;
  /** The organization, or the pattern of them; null: about all, or about none. */
  readonly slug: string | null;
  /** What it was done to: an alert's id, a silence's, a check; null: nothing beside the organization. */
  readonly subject: string | null;
  /** More about it, in words and numbers. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** A row of the audit. */
export interface AuditEntry {
  readonly id: number;
  readonly atMs: number;
  readonly actor: string;
  readonly via: ActVia;
  readonly action: Action;
  readonly slug: string | null;
  readonly subject: string | null;
  /** With `user` and `note` where the author had them. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Where a page of the audit ends. */
export interface AuditPosition {
  readonly atMs: number;
  readonly id: number;
}

/** What people and programs did (CONTRACT 13). Rows are added and, after their retention, deleted; none is ever changed. */
export interface AuditStore {
  /** Adds a row; in the transaction of the act where it has one. */
  append(act: AuditAct): Promise<void>;
  /** Newest first, those after `after` in that order. */
  list(query: {
    readonly sinceMs?: number;
    readonly untilMs?: number;
    readonly actor?: string;
    readonly after?: AuditPosition;
    readonly limit: number;
  }): Promise<readonly AuditEntry[]>;
  /** Deletes those before `beforeMs`, at most `maxRows` at a time. */
  prune(limits: { readonly beforeMs: number; readonly maxRows: number }): Promise<{ readonly hasMore: boolean }>;
}
