import { expect, it } from "vitest";
import { z } from "zod";

import { closed, encodeAnswer } from "./answer.ts";
import { instantSchema } from "./instant.ts";

const schema = z.object({
  at: instantSchema,
  endedAt: instantSchema.nullable(),
  members: z.array(z.object({ slug: z.string(), judgedAt: instantSchema.nullable().optional() })),
  labels: z.record(z.string(), z.string()),
  judgement: closed(z.object({ by: z.string(), at: instantSchema })),
});

const row = {
  atMs: 0,
  endedAtMs: null,
  members: [{ slug: "acme", judgedAtMs: 1, secret: "x" }, { slug: "globex" }],
  labels: { startMs: "7" },
  judgement: { by: "dana", atMs: 2, secret: "x" },
  secret: "x",
};

it("answers the fields of the schema alone, with instants in ISO 8601", () => {
  expect(JSON.parse(JSON.stringify(encodeAnswer(schema, row, true)))).toEqual({
    at: "1970-01-01T00:00:00.000Z",
    endedAt: null,
    members: [{ slug: "acme", judgedAt: "1970-01-01T00:00:00.001Z" }, { slug: "globex" }],
    labels: { startMs: "7" },
    judgement: { by: "dana", at: "1970-01-01T00:00:00.002Z" },
  });
});

it("leaves closed fields out for readers without details", () => {
  expect(encodeAnswer(schema, row, false)).not.toHaveProperty("judgement");
});
