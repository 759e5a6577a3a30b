import { describe, expect, it } from "vitest";

import { checkPostgresUrl, driverUrl, postgresPasswords, postgresPlace } from "./postgres-url.ts";

describe("the address of a PostgreSQL", () => {
  it.each([
    { rule: "plain", url: "postgres://u:hush@db:5433/name", place: "db:5433/name", passwords: ["hush"] },
    { rule: "IPv6", url: "postgresql://u@[::1]/name", place: "[::1]/name", passwords: [] },
    { rule: "an encoded password", url: "postgres://u:h%40@db/n", place: "db/n", passwords: ["h%40", "h@"] },
    {
      rule: "a socket as libpq has it",
      url: "postgres://u:hush@/name?host=/run/postgresql&port=5433",
      place: "/run/postgresql:5433/name",
      passwords: ["hush"],
    },
    {
      rule: "a socket and a password as parameters",
      url: "postgres:///name?host=/run/postgresql&user=u&password=hush",
      place: "/run/postgresql/name",
      passwords: ["hush"],
    },
    { rule: "a socket as a host", url: "postgres://u@%2Frun%2Fpg/name", place: "/run/pg/name", passwords: [] },
    { rule: "a comma that names no second host", url: "postgres://u:a,b@db/n", place: "db/n", passwords: ["a,b"] },
  ])("may be $rule", ({ url, place, passwords }) => {
    expect(checkPostgresUrl(url)).toBeNull();
    expect(postgresPlace(url)).toBe(place);
    expect(postgresPasswords(url)).toEqual(passwords);
  });

  it.each([
    { rule: "another scheme", url: "mysql://u:hush@db/n", says: /postgres:\/\// },
    { rule: "no database", url: "postgres://u:hush@db", says: /DATABASE/ },
    { rule: "a password that nobody encoded", url: "postgres://u:hush%#1@db/n", says: /%XX/ },
    { rule: "a % that begins nothing", url: "postgres://u:hush%!@db/n", says: /%XX/ },
    { rule: "two hosts", url: "postgres://u:hush@a,b/n", says: /one host/ },
    { rule: "two hosts with ports", url: "postgres://u:hush@a:1,b:2/n", says: /one host/ },
    {
      rule: "an unknown sslmode",
      url: "postgres://u:hush@db/n?sslmode=always",
      says: /sslmode: disable, .*verify-full/,
    },
  ])("may not be $rule, and is not shown", ({ url, says }) => {
    expect(checkPostgresUrl(url)).toMatch(says);
    expect(`${checkPostgresUrl(url)} ${postgresPlace(url)}`).not.toContain("hush");
  });

  it.each([
    { mode: "?sslmode=require", given: "?sslmode=verify-full" },
    { mode: "?a=b&sslmode=prefer&c=d", given: "?a=b&sslmode=verify-full&c=d" },
    { mode: "?sslmode=no-verify", given: "?sslmode=no-verify" },
    { mode: "?sslmode=require&uselibpqcompat=true", given: "?sslmode=require&uselibpqcompat=true" },
  ])("with $mode is given to the driver with $given, so that it warns of nothing", ({ mode, given }) => {
    expect(driverUrl(`postgres://u@db/n${mode}`)).toBe(`postgres://u@db/n${given}`);
  });
});
