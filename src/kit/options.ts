/**
 * Checks options with zod schemas, for the configuration, definitions and `ctx` calls. All of them describe a mistake
 * in the same way: where it is, what is expected, and for an unknown key the known key with the most similar name.
 */
import { z } from "zod";
import { DefinitionError } from "./definition-error.ts";
import { byNearness } from "./nearest.ts";
import { type Issue, SvcError } from "./svc-error.ts";
import { kindOf } from "./v.ts";

/** The members of an object schema for `Options`. Fails to compile when a key or its type differs. */
export type ShapeOf<Options> = { [Key in keyof Options]-?: z.ZodType<unknown, Options[Key] | undefined> };

/** The message for a wrong value: what is expected, and the kind of the value, never its content. */
export const must = (be: string) => ({
  error: (issue: { code?: string; input?: unknown }) =>
    issue.code === "invalid_type" ? `must be ${be}, got ${kindOf(issue.input)}` : `must be ${be}`,
});

export const boolean = () => z.boolean(must("true or false"));

export function number(min: number, max: number, be = `a number from ${min} to ${max}`) {
  const rule = must(be);
  return z.number(rule).min(min, rule).max(max, rule);
}

/** @param max (Default: the largest safe integer) */
export function integer(min: number, max?: number, be = `a whole number from ${min}${max ? ` to ${max}` : ""}`) {
  const rule = must(be);
  return z
    .number(rule)
    .int(rule)
    .min(min, rule)
    .max(max ?? Number.MAX_SAFE_INTEGER, rule);
}

/** One of the texts. */
export const oneOf = <const Text extends string>(texts: readonly Text[]) =>
  z.enum(texts, must(`"${texts.join('", "')}"`.replace(/,( [^,]*)$/, " or$1")));

/** A function. Its arguments and its result are not checked. */
export const callable = <T>() =>
  z.custom<T>((value) => typeof value === "function", {
    error: ({ input }) => `must be a function, got ${kindOf(input)}`,
  });

/** Converts a value. When `convert` throws, the message of the error becomes that of the issue. */
export const converted = <Given, Value>(convert: (value: Given) => Value) =>
  z.custom<Given>().transform((value, check): Value => {
    try {
      return convert(value);
    } catch (error) {
      check.addIssue((error as Error).message);
      return z.NEVER;
    }
  });

/** The messages of unknown keys that belong to another place. */
type Elsewhere = Readonly<Record<string, string>>;

/** The options as the schema reads them, or everything that is wrong with them. */
export function readOptions<Of extends z.ZodType>(
  schema: Of,
  options: unknown,
  elsewhere: Elsewhere = {},
): { data: z.output<Of>; issues?: undefined } | { issues: Issue[] } {
  // Without code that zod compiles for the schema: most definitions are read once, at the start.
  const result = schema.safeParse(options, { error: explain(elsewhere), jitless: true });
  if (result.success) return { data: result.data };
  return { issues: result.error.issues.map(({ path, message }) => ({ path: path as Issue["path"], message })) };
}

/**
 * The options of a definition, with defaults.
 *
 * @param where such as `createCrud of "tasks"`
 * @throws DefinitionError with all mistakes, one a line; or what `refuse` makes of them
 */
export function checkOptions<Of extends z.ZodType>(
  where: string,
  schema: Of,
  options: unknown,
  refuse = (message: string, _issues: Issue[]): Error => new DefinitionError(message),
): z.output<Of> {
  const result = readOptions(schema, options);
  if (result.issues) throw refuse(linesOf(where, result.issues).join("\n"), result.issues);
  return result.data;
}

/** The options of a `ctx` call, which may be the caller's. @throws SvcError BAD_REQUEST @param call such as `search` */
export const checkCallOptions = <Of extends z.ZodType>(call: string, schema: Of, options: unknown) =>
  checkOptions(call, schema, options, (message, issues) => new SvcError("BAD_REQUEST", message, { issues }));

/** One line for each issue: `svc.config.ts: schema[0]: must be a folder`. */
export function linesOf(where: string, issues: readonly Issue[]): string[] {
  return [...new Set(issues.map(({ path, message }) => `${where}: ${keyPath(path)}${message}`))];
}

/** `limits.jsonBytes: ` or `schema[0]: `; nothing at the top. */
function keyPath(path: Issue["path"]): string {
  const joined = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
  return joined ? `${joined.replace(/^\./, "")}: ` : "";
}

/** As `must` names them, by zod's name. */
const kinds: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  boolean: "true or false",
  array: "a list",
};

/** The messages that a schema does not give itself. */
const explain = (elsewhere: Elsewhere) => (issue: z.core.$ZodRawIssue) => {
  const isObject = issue.code === "invalid_type" && ["object", "record"].includes(issue.expected);
  if (isObject) return "must be an object, as in { key: value }";
  const kind = issue.code === "invalid_type" ? kinds[issue.expected] : undefined;
  if (kind) return `must be ${kind}, got ${kindOf(issue.input)}`;
  if (issue.code === "invalid_key") return issue.issues[0]?.message;
  if (issue.code !== "unrecognized_keys") return undefined;
  const { shape, description } = issue.inst as z.ZodObject;
  const known = Object.keys(shape);
  const list = `Known here: ${known.join(", ")}${description ? `. ${description}` : ""}`;
  const meant = (key: string) => `Did you mean "${byNearness(key, known)[0]}"? ${list}`;
  return issue.keys.map((key) => elsewhere[key] ?? `"${key}" is not a known key. ${meant(key)}`).join("; ");
};
