import { z } from "zod";

import type { Secret } from "../secret.ts";
import { addProblems, strictObject, type KeyProblem } from "./values.ts";

// The schema is the only place of a key: its name, its type and the output of `config show` follow from it.

type Shape = z.core.$ZodLooseShape;
type Inner<Schema> = Schema extends z.ZodOptional<infer Of> ? Inner<Of> : Schema;
/** The name of text that is read as milliseconds gets the unit. */
type NameOf<Key extends string, Of extends Shape> =
  Inner<Of[Key]> extends z.ZodCodec<z.ZodString, z.ZodNumber> ? `${Key}Ms` : Key;
export type Lasting<Value> = Value extends Secret | string | ReadonlySet<unknown>
  ? Value
  : Value extends object
    ? { readonly [Key in keyof Value]: Lasting<Value[Key]> }
    : Value;
type Said<Schema> = Lasting<Exclude<z.output<Schema>, undefined>>;
type Optional<Of extends Shape> = { [Key in keyof Of]: undefined extends z.output<Of[Key]> ? Key : never }[keyof Of];

/** An object of the file as it is read; an absent key is null, unless it has a built-in value. */
export type Section<Of extends Shape> = {
  readonly [Key in keyof Of & string as NameOf<Key, Of>]:
    Said<Of[Key]> | (Key extends Optional<Of> ? (Of[Key] extends BuiltIn<z.ZodType> ? never : null) : never);
};
/** An object of a layer as it is read; an absent key is undefined, so that another layer may set it. */
export type Layer<Of extends Shape> = {
  readonly [Key in Exclude<keyof Of, Optional<Of>> & string as NameOf<Key, Of>]: Said<Of[Key]>;
} & { readonly [Key in Optional<Of> & string as NameOf<Key, Of>]?: Said<Of[Key]> };

interface ObjectRules<Of extends Shape> {
  /** ` of a remote source`: follows "unknown key"; `foreign`: why some keys are refused (`strictObject`). */
  readonly where?: string;
  readonly foreign?: Readonly<Record<string, string>>;
  /** Problems between keys that are valid alone. */
  readonly check?: (values: z.output<z.ZodObject<Of>>) => readonly KeyProblem[];
  /** The check only looks for absent keys, and also runs if a key is wrong [it does not]. */
  readonly isAboutAbsence?: true;
}

/** Returns the problems of an object that has either `file` or these keys, of which `url` is required. */
export function fileOrUrl<Key extends string>(
  values: Readonly<Partial<Record<Key | "file" | "url", unknown>>>,
  others: readonly Key[],
  missing: KeyProblem,
): readonly KeyProblem[] {
  if (values.file === undefined) return values.url === undefined ? [missing] : [];
  const foreign = others.filter((key) => values[key] !== undefined);
  return foreign.map((key) => ({ key, message: "does not go with file", part: "key" }));
}

/** An object of the file, read as a {@link Section}. */
export function section<Of extends Shape>(
  shape: Of,
  rules: ObjectRules<Of> = {},
): ReadAs<z.ZodObject<Of, z.core.$strict>, Section<Of>> {
  return object(shape, rules, ({ builtIn }) => builtIn() ?? null);
}

/** An object of the file, read as a {@link Layer}. */
export function layer<Of extends Shape>(
  shape: Of,
  rules: ObjectRules<Of> = {},
): ReadAs<z.ZodObject<Of, z.core.$strict>, Layer<Of>> {
  return object(shape, rules, () => undefined);
}

function object<Of extends Shape, Read>(
  shape: Of,
  { where, foreign, check, isAboutAbsence }: ObjectRules<Of>,
  absent: (key: ShapeKey) => unknown,
): ReadAs<z.ZodObject<Of, z.core.$strict>, Read> {
  const known = strictObject(shape, where, foreign);
  const written =
    check === undefined
      ? known
      : known.superRefine(
          (values, context) => addProblems(context, check(values)),
          isAboutAbsence === true
            ? { when: ({ value }) => Object(value) === value && !Array.isArray(value) }
            : undefined,
        );
  const keys = keysOf(shape);
  return readAs(
    written,
    // Ten thousand organizations have seven of these each.
    (values) => {
      const read: Record<string, unknown> = {};
      for (const one of keys) {
        const { [one.key]: said = absent(one) } = values as Values;
        if (said !== undefined) read[one.name] = said;
      }
      return read as Read;
    },
    (read: Read) => {
      const said: Record<string, unknown> = {};
      for (const { key, name, isBuiltIn } of keys) {
        const value = (read as Values)[name];
        // null has a meaning for a key with a built-in value: `fleet: false`.
        if (value !== undefined && (isBuiltIn || value !== null)) said[key] = value;
      }
      return said as z.output<typeof written>;
    },
  );
}

/** A schema of a value in the file, and its read form. */
export type ReadAs<Written extends z.core.$ZodType, Read> = z.ZodCodec<Written, z.ZodCustom<Read, Read>>;

// One schema for all: making one takes longer than using it once, and every start would make many.
const anything = z.custom<unknown>();

/** A value of the file that is read as something else. */
export function readAs<Written extends z.core.$ZodType, Read>(
  written: Written,
  decode: (written: z.output<Written>) => Read,
  encode: (read: Read) => z.output<Written>,
): ReadAs<Written, Read> {
  const encodeRead = encode as (value: unknown) => z.output<Written>;
  return z.codec(written, anything, { decode, encode: encodeRead }) as ReadAs<Written, Read>;
}

interface BuiltIn<Schema extends z.ZodType> extends z.ZodOptional<Schema> {
  readonly isBuiltIn: true;
}

/** Gives a key a built-in value, as the file would write it: it holds if nothing sets the key. */
export function builtIn<Schema extends z.ZodType>(schema: Schema, written: z.input<Schema>): BuiltIn<Schema> {
  // Only the type has `isBuiltIn`; at run time the metadata says it, also on clones as `describe` makes them.
  return schema.optional().meta({ default: written, isBuiltIn: true }) as unknown as BuiltIn<Schema>;
}

/** The built-in values of a shape. */
export type Whole<Of extends Shape> = {
  readonly [
    Key in keyof Of & string as Of[Key] extends BuiltIn<z.ZodType> | Nested<Shape> ? NameOf<Key, Of> : never
  ]: Of[Key] extends Nested<infer Inner> ? Whole<Inner> : Said<Of[Key]>;
};
type Nested<Of extends Shape> = z.ZodOptional<ReadAs<z.ZodObject<Of, z.core.$strict>, Layer<Of>>>;

/** Returns the built-in values of a shape and of the layers in it. */
export function builtInOf<Of extends Shape>(shape: Of): Whole<Of> {
  const entries = keysOf(shape).flatMap(({ name, schema, builtIn }) => {
    const value = builtIn();
    if (value !== undefined) return [[name, value]];
    const inner = schema instanceof z.ZodOptional ? schema.unwrap() : null;
    if (!(inner instanceof z.ZodCodec) || !(inner.in instanceof z.ZodObject)) return [];
    return [[name, builtInOf(inner.in.shape)]];
  });
  return Object.fromEntries(entries) as Whole<Of>;
}

type Values = Readonly<Record<string, unknown>>;

interface ShapeKey {
  readonly key: string;
  readonly name: string;
  readonly schema: z.core.$ZodType;
  readonly isBuiltIn: boolean;
  /** undefined: there is no built-in value. */
  readonly builtIn: () => unknown;
}

function keysOf(shape: Shape): readonly ShapeKey[] {
  return Object.entries<z.core.$ZodType>(shape).map(([key, schema]) => {
    const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
    const isMilliseconds = inner instanceof z.ZodCodec && inner.out instanceof z.ZodNumber;
    const { isBuiltIn = false, default: written } = z.globalRegistry.get(schema) ?? {};
    // A built-in value that is read as it is written is right: checking it would take milliseconds of each start.
    let read: unknown = inner instanceof z.ZodCodec ? undefined : written;
    const builtIn = (): unknown =>
      isBuiltIn === true ? (read ??= z.decode(inner, written, { jitless: true })) : undefined;
    return { key, name: isMilliseconds ? `${key}Ms` : key, schema, isBuiltIn: isBuiltIn === true, builtIn };
  });
}
