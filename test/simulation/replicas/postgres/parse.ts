import type { Assignments, Control, Delete, Expression, Insert, Output, Select, Statement, Update } from "./syntax.ts";

const token = /\s*(?:(\$\d+)|(\d+)|'((?:[^']|'')*)'|"([^"]+)"|([a-z_][a-z_0-9]*)|(::|<>|<=|>=|[(),.=<>+*[\]-]))/iy;
const reserved = new Set(
  "and as by conflict cross do for from group having in inner is join left limit not on or order returning set union using values where with".split(
    " ",
  ),
);

interface Token {
  readonly kind: "parameter" | "number" | "text" | "name" | "word" | "sign";
  readonly text: string;
}

/**
 * Parses a statement of the part of SQL that ownership, checks and history use. Everything else is refused: what the
 * model does not know it must not answer.
 */
export function parseStatement(sql: string): Statement {
  const parser = new Parser(tokensOf(sql), sql);
  const statement = parser.statement();
  parser.end();
  return statement;
}

function tokensOf(sql: string): Token[] {
  const tokens: Token[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < sql.trimEnd().length) {
    const from = token.lastIndex;
    const found = token.exec(sql);
    if (found === null) throw unknown(sql, sql.slice(from, from + 20));
    const [, parameter, number, text, quoted, word, sign = ""] = found;
    if (parameter !== undefined) tokens.push({ kind: "parameter", text: parameter.slice(1) });
    else if (number !== undefined) tokens.push({ kind: "number", text: number });
    else if (text !== undefined) tokens.push({ kind: "text", text: text.replaceAll("''", "'") });
    else if (quoted !== undefined) tokens.push({ kind: "name", text: quoted });
    else if (word !== undefined) tokens.push({ kind: "word", text: word.toLowerCase() });
    else tokens.push({ kind: "sign", text: sign });
  }
  return tokens;
}

function unknown(sql: string, near: string): Error {
  return new Error(`the model of PostgreSQL does not know this statement, near "${near}": ${sql}`);
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #sql: string;
  #at = 0;

  constructor(tokens: readonly Token[], sql: string) {
    this.#tokens = tokens;
    this.#sql = sql;
  }

  end(): void {
    if (this.#at < this.#tokens.length) throw this.#unknown();
  }

  statement(): Statement {
    let first: Statement["with"] = null;
    if (this.#takes("with")) {
      const name = this.#name();
      this.#expect("as", "(");
      first = { name, query: this.#select() };
      this.#expect(")");
    }
    return { ...this.#body(), with: first };
  }

  #body(): Select | Insert | Update | Delete | Control {
    if (this.#isNext("select")) return this.#select();
    if (this.#takes("insert")) return this.#insert();
    if (this.#takes("update")) return this.#update();
    if (this.#takes("delete")) {
      this.#expect("from");
      return { kind: "delete", table: this.#name(), where: this.#where() };
    }
    if (this.#takes("commit")) return { kind: "commit", isolation: "read committed" };
    if (this.#takes("rollback")) return { kind: "rollback", isolation: "read committed" };
    this.#expect("start", "transaction", "isolation", "level");
    if (this.#takes("repeatable")) {
      this.#expect("read");
      return { kind: "begin", isolation: "repeatable read" };
    }
    this.#expect("read", "committed");
    return { kind: "begin", isolation: "read committed" };
  }

  #select(): Select {
    this.#expect("select");
    const outputs = this.#outputs();
    const from = this.#takes("from") ? this.#name() : null;
    let join: Select["join"] = null;
    if (this.#takes("join")) {
      const table = this.#name();
      this.#expect("on");
      join = { table, on: this.#expression() };
    }
    const where = this.#where();
    let orderBy: readonly Expression[] = [];
    if (this.#takes("order")) {
      this.#expect("by");
      orderBy = this.#list(() => this.#expression());
    }
    const limit = this.#takes("limit") ? this.#expression() : null;
    const isLocking = this.#takes("for");
    if (isLocking) this.#expect("share");
    return { kind: "select", outputs, from, join, where, orderBy, limit, isLocking };
  }

  #outputs(): Output[] {
    let unnamed = 0;
    return this.#list((): Output => {
      if (this.#takes("*")) return { of: null, name: "*" };
      const of = this.#expression();
      if (this.#takes("as")) return { of, name: this.#name() };
      const isNamed = of.kind === "column" || (of.kind === "call" && of.name !== "unnest");
      return { of, name: isNamed ? of.name : `?column?${unnamed++ || ""}` };
    });
  }

  #insert(): Insert {
    this.#expect("into");
    const table = this.#name();
    this.#expect("(");
    const columns = this.#list(() => this.#name());
    this.#expect(")");
    const rows = this.#takes("values") ? this.#rows() : this.#select();
    let onConflict: Insert["onConflict"] = null;
    if (this.#takes("on")) {
      this.#expect("conflict", "(");
      const target = this.#list(() => this.#name());
      this.#expect(")", "do");
      if (this.#takes("nothing")) onConflict = { columns: target, set: [], where: null };
      else {
        this.#expect("update", "set");
        onConflict = { columns: target, set: this.#assignments(), where: this.#where() };
      }
    }
    const returning = this.#takes("returning") ? this.#outputs() : [];
    return { kind: "insert", table, columns, rows, onConflict, returning };
  }

  #update(): Update {
    const table = this.#name();
    this.#expect("set");
    return { kind: "update", table, set: this.#assignments(), where: this.#where() };
  }

  #assignments(): Assignments {
    return this.#list(() => {
      const column = this.#name();
      this.#expect("=");
      return { column, to: this.#expression() };
    });
  }

  #rows(): (readonly Expression[])[] {
    return this.#list(() => {
      this.#expect("(");
      const cells = this.#list(() => this.#expression());
      this.#expect(")");
      return cells;
    });
  }

  #where(): Expression | null {
    return this.#takes("where") ? this.#expression() : null;
  }

  #expression(): Expression {
    let left = this.#conjunction();
    while (this.#takes("or")) left = { kind: "binary", operator: "or", left, right: this.#conjunction() };
    return left;
  }

  #conjunction(): Expression {
    let left = this.#condition();
    while (this.#takes("and")) left = { kind: "binary", operator: "and", left, right: this.#condition() };
    return left;
  }

  #condition(): Expression {
    if (this.#takes("not")) return { kind: "not", of: this.#condition() };
    if (this.#takes("exists")) {
      this.#expect("(");
      const query = this.#select();
      this.#expect(")");
      return { kind: "exists", query };
    }
    const [left, ...others] = this.#operands();
    if (this.#takes("is")) {
      const isNot = this.#takes("not");
      this.#expect("null");
      const is: Expression = { kind: "is-null", of: left };
      return isNot ? { kind: "not", of: is } : is;
    }
    const isNot = this.#takes("not");
    if (isNot || this.#isNext("in")) {
      this.#expect("in", "(");
      const is = this.#members([left, ...others]);
      this.#expect(")");
      return isNot ? { kind: "not", of: is } : is;
    }
    if (others.length > 0) throw this.#unknown();
    for (const operator of ["=", "<>", "<=", ">=", "<", ">"])
      if (this.#takes(operator)) return { kind: "binary", operator, left, right: this.#sum() };
    return left;
  }

  #members(of: readonly [Expression, ...Expression[]]): Expression {
    if (this.#takes("values")) return { kind: "in-list", of, rows: this.#rows() };
    if (this.#isNext("select")) return { kind: "in-query", of, query: this.#select() };
    if (of.length > 1) throw this.#unknown();
    return { kind: "in-list", of, rows: this.#list(() => [this.#expression()]) };
  }

  /** One, or a row of them. */
  #operands(): [Expression, ...Expression[]] {
    if (!this.#takes("(")) return [this.#sum()];
    const [first, ...others] = this.#list(() => this.#expression());
    this.#expect(")");
    if (first === undefined) throw this.#unknown();
    return others.length > 0 ? [first, ...others] : [this.#sumFrom(this.#casts(first))];
  }

  #sum(): Expression {
    return this.#sumFrom(this.#operand());
  }

  #sumFrom(first: Expression): Expression {
    let left = first;
    for (;;) {
      const operator = ["+", "-", "*"].find((sign) => this.#takes(sign));
      if (operator === undefined) return left;
      left = { kind: "binary", operator, left, right: this.#operand() };
    }
  }

  #operand(): Expression {
    return this.#casts(this.#plainOperand());
  }

  /** Types are those of the columns; a cast changes no value that the store writes. */
  #casts(of: Expression): Expression {
    while (this.#takes("::")) this.#type();
    return of;
  }

  #plainOperand(): Expression {
    const next = this.#next();
    if (next.kind === "parameter") return { kind: "parameter", index: Number(next.text) - 1 };
    if (next.kind === "number") return { kind: "value", value: Number(next.text) };
    if (next.kind === "text") return { kind: "value", value: next.text };
    if (next.kind === "sign") {
      if (next.text !== "(") throw this.#unknown();
      const inner = this.#expression();
      this.#expect(")");
      return inner;
    }
    if (next.kind === "word" && next.text === "null") return { kind: "value", value: null };
    if (next.kind === "word" && next.text === "cast") {
      this.#expect("(");
      const of = this.#expression();
      this.#expect("as");
      this.#type();
      this.#expect(")");
      return of;
    }
    if (next.kind === "word" && reserved.has(next.text)) throw this.#unknown();
    if (this.#takes("(")) return this.#call(next.text);
    if (this.#takes(".")) return { kind: "column", table: next.text, name: this.#name() };
    return { kind: "column", table: null, name: next.text };
  }

  #call(name: string): Expression {
    if (name === "extract") this.#expect("epoch", "from");
    const given = this.#isNext(")") ? [] : this.#list(() => this.#expression());
    this.#expect(")");
    return { kind: "call", name, given };
  }

  #type(): void {
    if (this.#name() === "double") this.#name();
    if (this.#takes("[")) this.#expect("]");
  }

  #list<Item>(item: () => Item): Item[] {
    const items = [item()];
    while (this.#takes(",")) items.push(item());
    return items;
  }

  #name(): string {
    const next = this.#next();
    if (next.kind !== "name" && (next.kind !== "word" || reserved.has(next.text))) throw this.#unknown();
    return next.text;
  }

  #next(): Token {
    const next = this.#tokens[this.#at++];
    if (next === undefined) throw this.#unknown();
    return next;
  }

  #isNext(text: string): boolean {
    const next = this.#tokens[this.#at];
    return next?.text === text && (next.kind === "word" || next.kind === "sign");
  }

  #takes(text: string): boolean {
    const isNext = this.#isNext(text);
    if (isNext) this.#at++;
    return isNext;
  }

  #expect(...texts: readonly string[]): void {
    for (const text of texts) if (!this.#takes(text)) throw this.#unknown();
  }

  #unknown(): Error {
    const near = this.#tokens.slice(Math.max(0, this.#at - 2), this.#at + 3);
    return unknown(this.#sql, near.map(({ text }) => text).join(" "));
  }
}
