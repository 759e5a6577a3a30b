import { describe, expect, it } from "vitest";

import { createStatementNames } from "./postgres-pool.ts";

describe("a statement that the server keeps", () => {
  it("has the same name each time, and no other text has it", () => {
    const names = createStatementNames();

    const first = names("select 1");

    expect(first).not.toBeNull();
    expect(names("update checks set fence = fence + 1")).not.toBe(first);
    expect(names("select 1")).toBe(first);
  });

  it.each([
    { rule: "names all columns, which a newer version may add to", text: 'select * from "outbox"' },
    { rule: "names all columns of one table", text: 'select "alerts".* from "alerts"' },
    { rule: "answers all columns", text: "delete from silences returning *" },
    { rule: "controls a transaction", text: "begin" },
    { rule: "is long", text: `select ${"1 + ".repeat(900)}1` },
    { rule: "has a text for each length of its list", text: "select id from outbox where id in ($1, $2)" },
    { rule: "has a text for each number of its rows", text: "insert into runs (a, b) values ($1, $2), ($3, $4)" },
  ])("is none that $rule", ({ text }) => {
    expect(createStatementNames()(text)).toBeNull();
  });

  it("may count all rows", () => {
    expect(createStatementNames()("select count(*) from meta")).not.toBeNull();
  });

  it("is one of a bounded number", () => {
    const names = createStatementNames();

    const named = Array.from({ length: 1_000 }, (_, index) => names(`select ${index}`));

    expect(named.filter((name) => name !== null)).toHaveLength(256);
    expect(names("select 0")).toBe(named[0]);
  });
});
