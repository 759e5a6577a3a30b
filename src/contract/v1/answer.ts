import { z } from "zod";

import { instantSchema, iso, type Instant } from "./instant.ts";

/** An answer as the server has it: `startsAtMs` is the epoch of the answer's `startsAt`. */
export type Row<Answer> = Answer extends readonly (infer Element)[]
  ? readonly Row<Element>[]
  : Answer extends object
    ? {
        readonly [
          Key in keyof Answer as NonNullable<Answer[Key]> extends Instant ? `${Key & string}Ms` : Key
        ]: NonNullable<Answer[Key]> extends Instant
          ? number | Extract<Answer[Key], null | undefined>
          : Row<Answer[Key]>;
      }
    : Answer;

export type RowOf<Schema extends z.ZodType> = Row<z.input<Schema>>;

const closedSchemas = new WeakSet<z.core.$ZodType>();

/** Marks a field that only readers with the right `read` get (CONTRACT 13). */
export function closed<Schema extends z.ZodType>(schema: Schema): z.ZodOptional<Schema> {
  const field = schema.optional();
  closedSchemas.add(field);
  return field;
}

type Encoder = (row: unknown, withDetails: boolean) => unknown;

const encoders = new WeakMap<z.core.$ZodType, Encoder>();

/** Returns the answer of a row: the fields of the schema, instants in ISO 8601; closed fields only `withDetails`. */
export function encodeAnswer(schema: z.core.$ZodType, row: unknown, withDetails: boolean): unknown {
  const encode = encoders.get(schema) ?? encoderOf(schema);
  encoders.set(schema, encode);
  return encode(row, withDetails);
}

function encoderOf(schema: z.core.$ZodType): Encoder {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly) {
    const encode = encoderOf(schema.unwrap());
    return (row, withDetails) => (row === null || row === undefined ? row : encode(row, withDetails));
  }
  if (schema === instantSchema) return (atMs) => iso(atMs as number);
  if (schema instanceof z.ZodArray) {
    const encode = encoderOf(schema.element);
    return (rows, withDetails) => (rows as readonly unknown[]).map((row) => encode(row, withDetails));
  }
  if (!(schema instanceof z.ZodObject) || schema.def.catchall !== undefined) return (row) => row;
  const fields = Object.entries(schema.shape).map(([name, field]) => ({
    name,
    from: isInstant(field) ? `${name}Ms` : name,
    isClosed: closedSchemas.has(field),
    encode: encoderOf(field),
  }));
  return (row, withDetails) => {
    const answer: Record<string, unknown> = {};
    for (const { name, from, isClosed, encode } of fields)
      if (withDetails || !isClosed)
        answer[name] = encode((row as Readonly<Record<string, unknown>>)[from], withDetails);
    return answer;
  };
}

function isInstant(schema: z.core.$ZodType): boolean {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return isWrapped ? isInstant(schema.unwrap()) : schema === instantSchema;
}
