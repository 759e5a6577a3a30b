/** A value of the model: bigint and double precision are numbers, bytea is bytes. */
export type Value = string | number | boolean | Uint8Array | null;
export type Row = Readonly<Record<string, Value>>;

export type Expression =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "parameter"; readonly index: number }
  | { readonly kind: "column"; readonly table: string | null; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly given: readonly Expression[] }
  | { readonly kind: "binary"; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "not"; readonly of: Expression }
  | { readonly kind: "is-null"; readonly of: Expression }
  | { readonly kind: "in-list"; readonly of: readonly Expression[]; readonly rows: readonly (readonly Expression[])[] }
  | { readonly kind: "in-query"; readonly of: readonly Expression[]; readonly query: Select }
  | { readonly kind: "exists"; readonly query: Select };

export interface Output {
  /** null: all columns. */
  readonly of: Expression | null;
  readonly name: string;
}

export interface Select {
  readonly kind: "select";
  readonly outputs: readonly Output[];
  readonly from: string | null;
  readonly join: { readonly table: string; readonly on: Expression } | null;
  readonly where: Expression | null;
  readonly orderBy: readonly Expression[];
  readonly limit: Expression | null;
  /** FOR SHARE. */
  readonly isLocking: boolean;
}

export type Assignments = readonly { readonly column: string; readonly to: Expression }[];

export interface Insert {
  readonly kind: "insert";
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Expression[])[] | Select;
  /** null: a conflict is an error. */
  readonly onConflict: {
    readonly columns: readonly string[];
    /** Empty: do nothing. */
    readonly set: Assignments;
    readonly where: Expression | null;
  } | null;
  readonly returning: readonly Output[];
}

export interface Update {
  readonly kind: "update";
  readonly table: string;
  readonly set: Assignments;
  readonly where: Expression | null;
}

export interface Delete {
  readonly kind: "delete";
  readonly table: string;
  readonly where: Expression | null;
}

export interface Control {
  readonly kind: "begin" | "commit" | "rollback";
  readonly isolation: "repeatable read" | "read committed";
}

export type Statement = (Select | Insert | Update | Delete | Control) & {
  /** WITH name AS (select). */
  readonly with: { readonly name: string; readonly query: Select } | null;
};
