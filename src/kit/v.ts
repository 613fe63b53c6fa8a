/**
 * `v`: the small validators of inputs, outputs and workflow arguments. Each one is a Standard Schema v1, so it can
 * replace a zod, valibot or arktype schema; `optional`, `array` and `object` accept those schemas inside.
 * Next hop: `src/contract/procedure.ts`, `src/contract/http-route.ts` and `src/contract/workflow.ts` call
 * `~standard.validate` and turn issues into a 400.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type Direction, type JsonSchema, jsonSchemaOf, relocate, segment, takesNothing } from "./json-schema.ts";
import { runSchema } from "./run-schema.ts";
import { mostIssues } from "./svc-error.ts";

type Schema = StandardSchemaV1<unknown, unknown>;
/** A validator per key. */
type Shape = Readonly<Record<string, Schema>>;
type Result<Output> = StandardSchemaV1.Result<Output>;
type In<Of extends Schema> = StandardSchemaV1.InferInput<Of>;
type Out<Of extends Schema> = StandardSchemaV1.InferOutput<Of>;

/**
 * The accepted type (`Input`) and the resulting type (`Output`) of a validator; they differ only if a foreign schema transforms.
 */
export type Validator<Output, Input = Output> = StandardSchemaV1<Input, Output>;

/** The output type of a schema: `type Task = Infer<typeof task>`. Works for every vendor. */
export type Infer<Of extends StandardSchemaV1> = StandardSchemaV1.InferOutput<Of>;

// The rule of optional keys, the same for types and values: a key may be absent if its validator takes `undefined`.
type Flat<T> = { [Key in keyof T]: T[Key] } & {}; // an intersection, because the compiler's messages write it out
type ShapeIn<S extends Shape> = Flat<
  { -readonly [Key in keyof S as undefined extends In<S[Key]> ? never : Key]: In<S[Key]> } & {
    -readonly [Key in keyof S as undefined extends In<S[Key]> ? Key : never]?: In<S[Key]>;
  }
>;
type ShapeOut<S extends Shape> = Flat<
  { -readonly [Key in keyof S as undefined extends Out<S[Key]> ? never : Key]: Out<S[Key]> } & {
    -readonly [Key in keyof S as undefined extends Out<S[Key]> ? Key : never]?: Out<S[Key]>;
  }
>;

/** The schema that {@link toSchema} makes of a map of validators; a schema stays unchanged. */
export type SchemaOf<Args extends StandardSchemaV1 | Shape> = Args extends StandardSchemaV1
  ? Args
  : Args extends Shape
    ? Validator<ShapeOut<Args>, ShapeIn<Args>>
    : never;

/** The kind of a value, never its content: that may be long, or a secret. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (value instanceof Blob) return "a file";
  if (value instanceof Date) return "a date";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** @param describe the value's JSON Schema */
function make<Output, Input = Output>(
  validate: (value: unknown) => Result<Output> | Promise<Result<Output>>,
  describe: (direction: Direction) => JsonSchema,
): Validator<Output, Input> {
  const jsonSchema = { input: () => describe("input"), output: () => describe("output") };
  const standard = { version: 1, vendor: "svc", validate, jsonSchema } as const;
  return { "~standard": standard };
}

function expect<Output>(
  expected: string,
  accepts: (value: unknown) => boolean,
  described: JsonSchema,
): Validator<Output> {
  const validate = (value: unknown): Result<Output> =>
    accepts(value)
      ? { value: value as Output }
      : { issues: [{ message: `Expected ${expected}, got ${kindOf(value)}.`, path: [] }] };
  return make<Output>(validate, () => ({ ...described }));
}

/** The JSON Schema of an inner schema at its position; open if its library has none. */
const describeInner = (schema: Schema, direction: Direction, pointer: string) =>
  relocate(jsonSchemaOf(schema, direction) ?? {}, pointer);

/** A part of an object or array: its key, its schema, its value. */
type Part = readonly [key: string | number, schema: Schema, value: unknown];

/** Checks all parts and combines them with `build`; asynchronous only if another vendor's schema returns a promise. */
function checkParts<Output>(
  parts: Iterable<Part>,
  build: (values: unknown[]) => Output,
): Result<Output> | Promise<Result<Output>> {
  const values: unknown[] = [];
  const issues: StandardSchemaV1.Issue[] = [];
  const left = parts[Symbol.iterator]();
  let index = 0;
  const check = (): Result<Output> | Promise<Result<Output>> => {
    const pending: Promise<void>[] = [];
    // Promises are awaited in between, since their issues count, too.
    while (issues.length < mostIssues && pending.length < mostIssues) {
      const { done, value: part } = left.next();
      if (done) break;
      const [key, schema, value] = part;
      const at = index++;
      const settle = (result: Result<unknown>): void => {
        if (!result.issues) values[at] = result.value;
        // Not `push(...)`: spreading a hundred thousand issues of another vendor would overflow the stack.
        else for (const i of result.issues) issues.push({ message: i.message, path: [key, ...(i.path ?? [])] });
      };
      const result = runSchema(schema, value);
      if (result instanceof Promise) pending.push(result.then(settle));
      else settle(result);
    }
    if (pending.length > 0) return Promise.all(pending).then(check);
    return issues.length > 0 ? { issues: issues.slice(0, mostIssues) } : { value: build(values) };
  };
  return check();
}

/** Plain objects, as from JSON and parsers. Not a Date, a Map or a class instance; the second test admits other realms. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const proto: unknown = Object.getPrototypeOf(value);
  return proto === null || Object.getPrototypeOf(proto) === null;
}

export const isSchema = (value: unknown): value is StandardSchemaV1 =>
  // arktype's schemas are functions.
  ((typeof value === "object" && value !== null) || typeof value === "function") && "~standard" in value;

function requireSchema(value: unknown, where: string): void {
  if (!isSchema(value))
    throw new TypeError(`${where} takes a Standard Schema such as v.string(), got ${kindOf(value)}.`);
}

function object<S extends Shape>(shape: S): Validator<ShapeOut<S>, ShapeIn<S>> {
  if (!isPlainObject(shape)) throw new TypeError(`v.object takes a map of validators, got ${kindOf(shape)}.`);
  const fields = Object.entries<Schema>(shape);
  for (const [key, schema] of fields) requireSchema(schema, `The key "${key}"`);

  const describe = (direction: Direction) => {
    const required = fields.flatMap(([key, schema]) => (takesNothing(schema) ? [] : [key]));
    const properties = fields.map(([key, schema]) => [
      key,
      describeInner(schema, direction, `/properties/${segment(key)}`),
    ]);
    return { type: "object", properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) };
  };
  return make((input) => {
    if (!isPlainObject(input)) return { issues: [{ message: `Expected an object, got ${kindOf(input)}.`, path: [] }] };
    // Own properties only, so that "constructor" or "__proto__" is never answered by the prototype.
    const has = (key: string): boolean => Object.hasOwn(input, key);
    const parts = fields.map(([key, schema]): Part => [key, schema, has(key) ? input[key] : undefined]);
    return checkParts(parts, (values) => {
      const kept = fields.map(([key], index) => [key, values[index]] as const);
      // fromEntries defines properties; an assignment to "__proto__" would set the prototype instead.
      return Object.fromEntries(kept.filter(([key, value]) => value !== undefined || has(key))) as ShapeOut<S>;
    });
  }, describe);
}

/** Lazy, so that checking stops at the cap without a copy of a long array. */
function* items(input: readonly unknown[], item: Schema): Iterable<Part> {
  for (const [index, value] of input.entries()) yield [index, item, value];
}

function array<Item extends Schema>(item: Item): Validator<Out<Item>[], In<Item>[]> {
  requireSchema(item, "v.array");
  const describe = (direction: Direction) => ({ type: "array", items: describeInner(item, direction, "/items") });
  return make((input) => {
    if (!Array.isArray(input)) return { issues: [{ message: `Expected an array, got ${kindOf(input)}.`, path: [] }] };
    return checkParts(items(input, item), (values) => values as Out<Item>[]);
  }, describe);
}

function file(): Validator<File, File | Blob> {
  const { validate } = expect<Blob>("a file", (value) => value instanceof Blob, {})["~standard"];
  const named = (blob: Blob) => (blob instanceof File ? blob : new File([blob], "blob", { type: blob.type }));
  return make(
    (value) => {
      const result = validate(value) as Result<Blob>;
      return result.issues ? result : { value: named(result.value) };
    },
    () => ({ type: "string", format: "binary" }),
  );
}

function optional<Of extends Schema>(inner: Of): Validator<Out<Of> | undefined, In<Of> | undefined> {
  requireSchema(inner, "v.optional");
  return make(
    (value) => (value === undefined ? { value } : (runSchema(inner, value) as Result<Out<Of> | undefined>)),
    (direction) => describeInner(inner, direction, ""),
  );
}

/**
 * Validators. Nothing is coerced (`"1"` is not a number) and `null` is not `undefined`. Every wrong part is reported
 * with its full path, at most 100 of them; messages name kinds, never the values that came.
 *
 * @example
 * const task = v.object({ title: v.string(), priority: v.optional(v.number()) });
 * type Task = Infer<typeof task>; // { title: string; priority?: number }
 */
export const v = {
  /** Any string, also the empty one. */
  string: () => expect<string>("a string", (value) => typeof value === "string", { type: "string" }),
  /** A finite number: not NaN, not ±Infinity, which JSON cannot carry. */
  number: () => expect<number>("a finite number", Number.isFinite, { type: "number" }),
  /** `true` or `false`. */
  boolean: () => expect<boolean>("true or false", (value) => typeof value === "boolean", { type: "boolean" }),
  /** A Web `File` or `Blob`, for multipart arguments. Handlers get a `File`. */
  file,
  /** Any value or none: unchecked, typed `any`. */
  // biome-ignore lint/suspicious/noExplicitAny: the one place where an author asks for it by name.
  any: () => expect<any>("anything", () => true, {}),
  /** The inner validator, or `undefined`. In `object` the key may then be absent. */
  optional,
  /** An array whose items are all valid. Holes count as `undefined`. Throws TypeError if `item` is not a schema. */
  array,
  /**
   * A plain object. Unknown keys are stripped, not refused: a newer client may send more than this server knows, and
   * undeclared keys never reach a handler. Throws TypeError at definition if a member is not a schema.
   */
  object,
} as const;

/**
 * Makes one schema of a map of validators, which may come from several vendors; a Standard Schema is returned
 * unchanged.
 *
 * @param args a map such as `{ amount: v.number(), note: z.string() }`, or any Standard Schema
 * @throws TypeError when it is neither; the message names the wrong key
 * @example
 * const schema = toSchema({ amount: v.number() });
 * await schema["~standard"].validate({ amount: 1 }); // { value: { amount: 1 } }
 */
export function toSchema<Args extends StandardSchemaV1 | Shape>(args: Args): SchemaOf<Args> {
  return (isSchema(args) ? args : object(args as Shape)) as SchemaOf<Args>;
}
