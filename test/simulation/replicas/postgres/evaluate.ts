import type { Expression, Output, Row, Select, Value } from "./syntax.ts";

/** The rows that names of columns refer to, those of an outer query last. */
export interface Scope {
  readonly tables: readonly (readonly [name: string, row: Row])[];
  readonly outer: Scope | null;
}

/** What a statement reads while it runs. */
export interface Reading {
  /** The visible rows of a table, in the order of their keys. */
  rows(table: string): readonly Row[];
  readonly parameters: readonly unknown[];
  call(name: string, given: readonly Value[]): Value;
}

const noScope: Scope = { tables: [], outer: null };

/** Returns the value of an expression; null is SQL's unknown. */
export function evaluate(expression: Expression, scope: Scope, reading: Reading): Value {
  switch (expression.kind) {
    case "value":
      return expression.value;
    case "parameter":
      return parameterOf(expression.index, reading);
    case "column":
      return columnOf(expression, scope);
    case "call":
      return reading.call(
        expression.name,
        expression.given.map((one) => evaluate(one, scope, reading)),
      );
    case "binary":
      return binary(expression, scope, reading);
    case "not": {
      const value = evaluate(expression.of, scope, reading);
      return value === null ? null : value !== true;
    }
    case "is-null":
      return evaluate(expression.of, scope, reading) === null;
    case "in-list": {
      const left = expression.of.map((one) => evaluate(one, scope, reading));
      return isAmong(
        left,
        expression.rows.map((row) => row.map((one) => evaluate(one, scope, reading))),
      );
    }
    case "in-query": {
      const left = expression.of.map((one) => evaluate(one, scope, reading));
      return isAmong(
        left,
        selectRows(expression.query, reading, scope).map((row) => Object.values(row)),
      );
    }
    case "exists":
      return selectRows(expression.query, reading, scope).length > 0;
    default:
      return expression satisfies never;
  }
}

/** Returns whether the row is one that a condition holds for. */
export function isWanted(where: Expression | null, scope: Scope, reading: Reading): boolean {
  return where === null || evaluate(where, scope, reading) === true;
}

/** Returns the rows of a query that locks nothing. */
export function selectRows(query: Select, reading: Reading, outer: Scope = noScope): Row[] {
  const { from, join, where, orderBy, limit } = query;
  if (query.outputs.some(({ of }) => isUnnest(of))) return unnestedRows(query, reading);
  const first = from === null ? [[]] : reading.rows(from).map((row) => [[from, row] as const]);
  const joined =
    join === null
      ? first
      : first.flatMap((tables) =>
          reading
            .rows(join.table)
            .map((row) => [...tables, [join.table, row] as const])
            .filter((both) => isWanted(join.on, { tables: both, outer }, reading)),
        );
  const found = joined.map((tables) => ({ tables, outer })).filter((scope) => isWanted(where, scope, reading));
  const sorted = orderBy.length === 0 ? found : found.toSorted((left, right) => order(orderBy, left, right, reading));
  const most = limit === null ? sorted.length : Number(evaluate(limit, outer, reading));
  return sorted.slice(0, most).map((scope) => outputRow(query.outputs, scope, reading));
}

function isUnnest(of: Expression | null): boolean {
  return of?.kind === "call" && of.name === "unnest";
}

/** The rows of a query of nothing but arrays, a parameter each. */
function unnestedRows({ outputs, from, where }: Select, { parameters }: Reading): Row[] {
  const arrays = outputs.map(({ of }): readonly Value[] => {
    const [given] = of?.kind === "call" && isUnnest(of) ? of.given : [];
    if (given?.kind !== "parameter" || from !== null || where !== null)
      throw new Error("the model of PostgreSQL unnests nothing but parameters");
    const array = parameters[given.index];
    if (Array.isArray(array)) return array as Value[];
    const cells = String(array).slice(1, -1).split(",");
    return cells.map((cell) => (cell === "null" ? null : Number(cell)));
  });
  const length = Math.max(...arrays.map((array) => array.length));
  return Array.from({ length }, (_, row) =>
    Object.fromEntries(outputs.map(({ name }, column) => [name, arrays[column]?.[row] ?? null])),
  );
}

/** Returns what a query or RETURNING gives for a row. */
export function outputRow(outputs: readonly Output[], scope: Scope, reading: Reading): Row {
  const row: Record<string, Value> = {};
  for (const { of, name } of outputs) {
    if (of === null) for (const [, all] of scope.tables) Object.assign(row, all);
    else row[name] = evaluate(of, scope, reading);
  }
  return row;
}

function parameterOf(index: number, { parameters }: Reading): Value {
  const value = parameters[index];
  if (value === null || typeof value === "number" || typeof value === "string" || typeof value === "boolean")
    return value;
  if (value instanceof Uint8Array) return value;
  throw new Error(`the model of PostgreSQL does not know the value of $${index + 1}`);
}

function columnOf({ table, name }: { readonly table: string | null; readonly name: string }, scope: Scope): Value {
  for (let one: Scope | null = scope; one !== null; one = one.outer)
    for (const [alias, row] of one.tables) {
      const value = table === null || table === alias ? row[name] : undefined;
      if (value !== undefined) return value;
    }
  throw new Error(`the model of PostgreSQL has no column ${table === null ? "" : `${table}.`}${name}`);
}

function binary(
  { operator, left, right }: Extract<Expression, { readonly kind: "binary" }>,
  scope: Scope,
  reading: Reading,
): Value {
  const one = evaluate(left, scope, reading);
  if (operator === "and" && one === false) return false;
  if (operator === "or" && one === true) return true;
  const other = evaluate(right, scope, reading);
  if (operator === "and") return other === false ? false : one === null || other === null ? null : true;
  if (operator === "or") return other === true ? true : one === null || other === null ? null : false;
  if (one === null || other === null) return null;
  if (operator === "+" || operator === "-" || operator === "*") return calculate(operator, one, other);
  const difference = compare(one, other);
  switch (operator) {
    case "=":
      return difference === 0;
    case "<>":
      return difference !== 0;
    case "<":
      return difference < 0;
    case "<=":
      return difference <= 0;
    case ">":
      return difference > 0;
    default:
      return difference >= 0;
  }
}

function calculate(operator: "+" | "-" | "*", one: Value, other: Value): number {
  if (typeof one !== "number" || typeof other !== "number")
    throw new Error(`the model of PostgreSQL cannot calculate ${String(one)} ${operator} ${String(other)}`);
  return operator === "+" ? one + other : operator === "-" ? one - other : one * other;
}

/** Numbers by size, texts by their bytes (COLLATE "C"), null last. */
function compare(one: Value, other: Value): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one === "string" && typeof other === "string") return Buffer.compare(Buffer.from(one), Buffer.from(other));
  throw new Error(`the model of PostgreSQL cannot compare ${String(one)} with ${String(other)}`);
}

function order(by: readonly Expression[], left: Scope, right: Scope, reading: Reading): number {
  for (const one of by) {
    const difference = compare(evaluate(one, left, reading), evaluate(one, right, reading));
    if (difference !== 0) return difference;
  }
  return 0;
}

function isAmong(left: readonly Value[], rows: readonly (readonly Value[])[]): Value {
  let isUnknown = false;
  for (const row of rows) {
    const cells = left.map((value, index) => {
      const cell = row[index] ?? null;
      return value === null || cell === null ? null : compare(value, cell) === 0;
    });
    if (cells.every((cell) => cell === true)) return true;
    isUnknown ||= cells.every((cell) => cell !== false);
  }
  return isUnknown ? null : false;
}
