/**
 * The wire of procedure calls. A body is `{ "name", "args" }`, where args are plain JSON or, for dates, bigints, sets
 * and the like, the oRPC encoding `{ "json", "meta" }`. Or the encoding is that of the whole call: `{ "json": { "name",
 * "args" }, "meta", "maps" }`. With files it is multipart: a part `data` holds the whole call, the parts `0`, `1`, …
 * hold the files, or parts with the names of arguments do. If the path contains the name, the body may omit it. Source:
 * https://orpc.dev/docs/advanced/rpc-protocol
 */
import { jsonIn } from "../kit/json-in.ts";
import { serializer, toParts } from "../kit/rich-values.ts";
import { type Issue, SvcError } from "../kit/svc-error.ts";
import { isNestedDeeper, requireShallowJson } from "./body.ts";

/** A decoded call. */
export interface ProcedureCall {
  name: string;
  args: unknown;
  /** For a query: whether the answer must include its snapshot, for comparison with later events. */
  watch?: boolean;
}

/** Limits on the cost of a small body. `docs/reference/limits.md` lists them. */
export const wireLimits = { files: 16, parts: 64, meta: 2048, depth: 64, calls: 50 } as const;

/** oRPC's codes of rich types, 0 (bigint) to 7 (map). */
const metaCodes = 8;
const regexpCode = 5;

/**
 * Decodes a JSON body.
 *
 * @param named the procedure's name, which overrides the body's. (Default: the body's)
 * @throws SvcError VALIDATION_FAILED for another shape, BAD_REQUEST for an invalid encoding
 */
export function decodeCall(body: unknown, named?: string): ProcedureCall {
  if (isWhole(body)) return asCall(decodeWhole(body, noFile), named);
  const { name, args, watch = false } = asCall(body, named);
  checkDepth(isEncoded(args) ? args.json : args);
  if (!isEncoded(args)) return { name, args, watch };
  return { name, args: deserialize(args.json, checkMeta(args.meta), [], noFile), watch };
}

/** Decodes a multipart body. @throws SvcError as `decodeCall` */
export function decodeForm(form: FormData, named?: string): ProcedureCall {
  const files = [...form.entries()].filter(([, value]) => typeof value !== "string");
  if (files.length > wireLimits.files) {
    throw new SvcError("PAYLOAD_TOO_LARGE", `A call carries at most ${wireLimits.files} files.`);
  }
  const getFile = (index: number) => {
    const file = form.get(String(index));
    return file instanceof Blob ? file : undefined;
  };
  const call = asCall(decodeWhole(parseData(form.get("data")), getFile), named);
  return { ...call, args: withNamedFiles(call.args, form) };
}

/** Files whose parts have the names of arguments, as generated clients send them. @throws SvcError BAD_REQUEST */
function withNamedFiles(args: unknown, form: FormData): unknown {
  const names = new Set<string>();
  for (const [name, value] of form) if (value instanceof Blob && !/^\d+$/.test(name)) names.add(name);
  if (names.size === 0) return args;
  const refused = (name: string) =>
    new SvcError("BAD_REQUEST", "A file has no place in the arguments.", {
      hint: `The part \`${name}\` becomes a member of args: leave the member out, or give null or a list.`,
    });
  const given = args ?? {};
  // A Map, a Set or another file has members, too, which a copy would lose.
  if (!isObject(given) || Object.getPrototypeOf(given) !== Object.prototype) throw refused([...names].join("`, `"));
  const placed = [...names].map((name) => {
    const before = Object.hasOwn(given, name) ? given[name] : undefined;
    const files = form.getAll(name).filter((value) => value instanceof Blob);
    if (Array.isArray(before)) return [name, [...before, ...files]];
    if (before !== undefined && before !== null) throw refused(name);
    return [name, files.length === 1 ? files[0] : files];
  });
  return { ...given, ...Object.fromEntries(placed) };
}

/** A call, or another object of members, that is encoded as a whole. */
interface Whole {
  json?: unknown;
  meta?: unknown;
  maps?: unknown;
}

/** Whether the encoding is that of the whole body. `own` are the members that a body has in the other forms. */
export const isWhole = (body: unknown, own: readonly string[] = ["name", "args"]): body is Whole =>
  isObject(body) && "json" in body && !own.some((name) => name in body);

/** @throws SvcError BAD_REQUEST for an invalid encoding */
export function decodeWhole({ json, meta, maps }: Whole, getFile: (index: number) => Blob | undefined): unknown {
  checkDepth(isObject(json) ? json.args : json);
  return deserialize(json, checkMeta(meta ?? []), checkPaths(maps ?? []), getFile);
}

/** A JSON body has no files. */
export const noFile = (): undefined => undefined;

/** `undefined`: 3 is its code among the types that JSON lacks. */
const nothing = JSON.stringify({ json: null, meta: [[3]] });

/**
 * Encodes a handler's result as the body of the answer.
 *
 * @throws TypeError for a result that contains a file, or itself, and for a function or symbol
 */
export function encodeResult(result: unknown): string {
  const { json, meta } = toParts("A procedure's result", result, "Return its bytes from a route instead.");
  // A handler returned nothing: JSON cannot represent that, and the body would lack its result.
  if (json === undefined) return nothing;
  return JSON.stringify(meta.length > 0 ? { json, meta } : { json });
}

/** The same for a result that is already JSON from PostgreSQL. */
export const encodeJsonText = (json: string) => `{"json":${json}}`;

/** Adds members to an encoded body: of a watched query, the snapshot of the read (`pg_snapshot` as text), or null. */
export const withMembers = (body: string, members: object) =>
  `${body.slice(0, -1)},${JSON.stringify(members).slice(1)}`;

type Path = (string | number)[];

const encodingHint =
  "Every path in maps and meta has to lead to a member of json: maps to a null in the place of part 0, 1, …, meta to a " +
  "value in the form of its code. docs/reference/procedures.md has both.";

function asCall(body: unknown, named?: string): ProcedureCall {
  const name = named ?? (isObject(body) ? body.name : undefined);
  if (isObject(body) && typeof name === "string") return { name, args: body.args, watch: body.watch === true };
  if (named !== undefined) {
    const issues = [{ path: [], message: "must be an object" }];
    throw new SvcError("VALIDATION_FAILED", 'Send { "args": … }.', { issues });
  }
  throw new SvcError("VALIDATION_FAILED", 'Send { "name": "module.operation", "args": … }.', {
    issues: [{ path: ["name"], message: "must be the name of a procedure" }],
  });
}

/** Exactly the two keys: an argument object that has a member called json besides others stays unchanged. */
function isEncoded(args: unknown): args is { json: unknown; meta: unknown[] } {
  return isObject(args) && "json" in args && Array.isArray(args.meta) && Object.keys(args).length === 2;
}

function parseData(data: FormDataEntryValue | null): Whole {
  const text = typeof data === "string" ? data : "";
  requireShallowJson(text);
  const parsed = jsonIn(text);
  if (isObject(parsed)) return parsed;
  throw new SvcError("BAD_REQUEST", "The multipart body needs a part `data` with JSON.", {
    hint: 'data = {"json": {"name": …, "args": {"file": null}}, "meta": [], "maps": [["args", "file"]]}; files as parts 0, 1, …',
  });
}

function checkMeta(meta: unknown): [number, ...Path][] {
  const paths = checkPaths(meta);
  for (const [index, [code]] of paths.entries()) {
    if (typeof code !== "number" || !Number.isInteger(code) || code < 0 || code >= metaCodes) {
      throw refuse([{ path: ["meta", index, 0], message: `must be a type code from 0 to ${metaCodes - 1}` }]);
    }
  }
  return paths as [number, ...Path][];
}

function checkPaths(paths: unknown): Path[] {
  if (!Array.isArray(paths) || paths.length > wireLimits.meta) {
    throw refuse([{ path: [], message: `must be a list of at most ${wireLimits.meta} paths` }]);
  }
  const isKey = (key: unknown) => typeof key === "string" || typeof key === "number";
  const wrong = paths.findIndex((path) => !Array.isArray(path) || !path.every(isKey));
  if (wrong >= 0) throw refuse([{ path: [wrong], message: "must be a path of keys" }]);
  return paths;
}

function deserialize(
  json: unknown,
  meta: [number, ...Path][],
  maps: Path[],
  file: (index: number) => Blob | undefined,
) {
  try {
    for (const [code, ...path] of meta) if (code === regexpCode) checkRegExp(valueAt(json, path));
    return serializer().deserialize(json, meta as never, maps as never, file as never);
  } catch (cause) {
    throw new SvcError("BAD_REQUEST", "The encoding of the arguments cannot be read.", { cause, hint: encodingHint });
  }
}

/** The serializer compiles a RegExp at its first use, in the handler. @throws SyntaxError for an invalid one */
function checkRegExp(text: unknown): void {
  const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(String(text)) ?? [];
  if (source !== undefined) new RegExp(source, flags);
}

const valueAt = (json: unknown, path: Path) =>
  path.reduce((at: unknown, key) => (Object.hasOwn(Object(at), key) ? Object(at)[key] : undefined), json);

function checkDepth(value: unknown): void {
  if (isNestedDeeper(value, wireLimits.depth)) {
    throw refuse([{ path: [], message: `is nested deeper than ${wireLimits.depth}` }]);
  }
}

const refuse = (issues: Issue[]) =>
  new SvcError("BAD_REQUEST", "The encoding of the arguments cannot be read.", { issues });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
