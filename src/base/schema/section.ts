import { z } from "zod";

import type { Secret } from "../secret.ts";
import { addProblems, strictObject, type KeyProblem } from "./values.ts";

// A key is said once, in its schema: its name, its type, and what `config show` writes follow from it.

type Shape = z.core.$ZodLooseShape;
type Inner<Schema> = Schema extends z.ZodOptional<infer Of> ? Inner<Of> : Schema;
/** Text that is read as milliseconds has its unit in the name of its key. */
type NameOf<Key extends string, Of extends Shape> =
  Inner<Of[Key]> extends z.ZodCodec<z.ZodString, z.ZodNumber> ? `${Key}Ms` : Key;
export type Lasting<Value> = Value extends Secret | string | ReadonlySet<unknown>
  ? Value
  : Value extends object
    ? { readonly [Key in keyof Value]: Lasting<Value[Key]> }
    : Value;
type Said<Schema> = Lasting<Exclude<z.output<Schema>, undefined>>;
type Optional<Of extends Shape> = { [Key in keyof Of]: undefined extends z.output<Of[Key]> ? Key : never }[keyof Of];

/** What an object of this shape in the file is read as; an absent key is null where nothing is built in. */
export type Section<Of extends Shape> = {
  readonly [Key in keyof Of & string as NameOf<Key, Of>]:
    Said<Of[Key]> | (Key extends Optional<Of> ? (Of[Key] extends BuiltIn<z.ZodType> ? never : null) : never);
};
/** The same where something else may say what is absent: it is not there. */
export type Layer<Of extends Shape> = {
  readonly [Key in Exclude<keyof Of, Optional<Of>> & string as NameOf<Key, Of>]: Said<Of[Key]>;
} & { readonly [Key in Optional<Of> & string as NameOf<Key, Of>]?: Said<Of[Key]> };

/** What an object of the file has beside its keys. */
interface ObjectRules<Of extends Shape> {
  /** Where an unknown key is unknown, ` of a remote source`, and why some keys are refused: as for `strictObject`. */
  readonly where?: string;
  readonly foreign?: Readonly<Record<string, string>>;
  /** What is wrong between its keys, each of which is right. */
  readonly check?: (values: z.output<z.ZodObject<Of>>) => readonly KeyProblem[];
  /** Whether the check only looks for what is absent, and is made where a key is wrong, too [it is not]. */
  readonly isAboutAbsence?: true;
}

/** What is wrong with an object that has a file or else these keys, of which `url` is required. */
export function fileOrUrl<Key extends string>(
  values: Readonly<Partial<Record<Key | "file" | "url", unknown>>>,
  others: readonly Key[],
  missing: KeyProblem,
): readonly KeyProblem[] {
  if (values.file === undefined) return values.url === undefined ? [missing] : [];
  const foreign = others.filter((key) => values[key] !== undefined);
  return foreign.map((key) => ({ key, message: "does not go with file", part: "key" }));
}

/** Returns an object of the file, which is read as a {@link Section}. */
export function section<Of extends Shape>(
  shape: Of,
  rules: ObjectRules<Of> = {},
): ReadAs<z.ZodObject<Of, z.core.$strict>, Section<Of>> {
  return object(shape, rules, ({ builtIn }) => builtIn() ?? null);
}

/** Returns an object of the file, which is read as a {@link Layer}. */
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
    // Each of ten thousand organizations has seven of these.
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
        // Of a key with a built-in value null says something: `fleet: false`.
        if (value !== undefined && (isBuiltIn || value !== null)) said[key] = value;
      }
      return said as z.output<typeof written>;
    },
  );
}

/** A schema of what the file has, and what that is read as. */
export type ReadAs<Written extends z.core.$ZodType, Read> = z.ZodCodec<Written, z.ZodCustom<Read, Read>>;

// One schema for all: making it takes longer than using it once, and every start makes all of them.
const anything = z.custom<unknown>();

/** Returns a value of the file that is read as something else, and how that is written. */
export function readAs<Written extends z.core.$ZodType, Read>(
  written: Written,
  decode: (written: z.output<Written>) => Read,
  encode: (read: Read) => z.output<Written>,
): ReadAs<Written, Read> {
  const codec = {
    decode: (value: z.output<Written>) => decode(value),
    encode: (value: unknown) => encode(value as Read),
  };
  return z.codec(written, anything, codec) as ReadAs<Written, Read>;
}

interface BuiltIn<Schema extends z.ZodType> extends z.ZodOptional<Schema> {
  readonly isBuiltIn: true;
}

/** Returns a key with what holds where a section, or no layer, says it, as the file would say it. */
export function builtIn<Schema extends z.ZodType>(schema: Schema, written: z.input<Schema>): BuiltIn<Schema> {
  // The type alone remembers it on clones, as `describe` makes them; the metadata does at run time.
  return schema.optional().meta({ default: written, isBuiltIn: true }) as unknown as BuiltIn<Schema>;
}

/** The built-in values, which hold where no layer has one. */
export type Whole<Of extends Shape> = {
  readonly [
    Key in keyof Of & string as Of[Key] extends BuiltIn<z.ZodType> | Nested<Shape> ? NameOf<Key, Of> : never
  ]: Of[Key] extends Nested<infer Inner> ? Whole<Inner> : Said<Of[Key]>;
};
type Nested<Of extends Shape> = z.ZodOptional<ReadAs<z.ZodObject<Of, z.core.$strict>, Layer<Of>>>;

/** Returns what is built in of a shape and of the layers in it. */
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
  /** Returns what holds where nothing says it; undefined: nothing is built in. */
  readonly builtIn: () => unknown;
}

function keysOf(shape: Shape): readonly ShapeKey[] {
  return Object.entries<z.core.$ZodType>(shape).map(([key, schema]) => {
    const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
    const isMilliseconds = inner instanceof z.ZodCodec && inner.out instanceof z.ZodNumber;
    const { isBuiltIn = false, default: written } = z.globalRegistry.get(schema) ?? {};
    // What is read as it is written is right: to look whether it is would take milliseconds of each start.
    let read: unknown = inner instanceof z.ZodCodec ? undefined : written;
    const builtIn = (): unknown =>
      isBuiltIn === true ? (read ??= z.decode(inner, written, { jitless: true })) : undefined;
    return { key, name: isMilliseconds ? `${key}Ms` : key, schema, isBuiltIn: isBuiltIn === true, builtIn };
  });
}
