/** Encodes a call's arguments as a body, and decodes the result of an answer. Next hop: `wire.ts`. */
import { SvcError } from "./error.ts";
import { nameOf, type Operation } from "./operation.ts";
import { convertRows } from "./rows.ts";
import { decode, encode } from "./wire.ts";

/** @param watch requests the snapshot of the answer */
export function toBody(name: string, args: unknown, watch?: true): string | FormData {
  const { json, meta, maps, files } = encoded(name, args);
  if (files.length === 0) {
    // In a JSON body only args are encoded, so the paths lose their first step.
    const inner = meta.map(([code, , ...path]) => [code, ...path]);
    const { args: plain } = json as { args?: unknown };
    return JSON.stringify({ name, args: needsMeta(plain, inner) ? { json: plain, meta: inner } : plain, watch });
  }
  const form = new FormData();
  form.set("data", JSON.stringify({ json, meta, maps }));
  for (const [index, file] of files.entries()) form.set(String(index), file);
  return form;
}

/** @throws TypeError for anything but pairs of a mutation and its arguments, and for arguments with files */
export function toBatch(calls: readonly (readonly [Operation, unknown])[]): string {
  // By index: nameOf says what is wrong with anything but a pair.
  const bodies = calls.map(({ 0: operation, 1: args }) => {
    const body = toBody(nameOf(operation, "mutation"), args);
    if (typeof body === "string") return body;
    throw new TypeError(`The arguments of ${operation.name} contain a file. Upload it first, and pass its id.`);
  });
  return `{"calls":[${bodies.join(",")}]}`;
}

/** @throws SvcError INVALID_ANSWER */
export function fromBatch(answer: unknown, calls: readonly (readonly [Operation, unknown])[]): unknown[] {
  const { results } = Object(answer) as { results?: unknown[] };
  return calls.map(([operation], index) => fromBody(results?.[index], operation));
}

function encoded(name: string, args: unknown) {
  const all = encodedOrTooDeep(name, args);
  if (!all.isInfinite) return all;
  throw new TypeError(`The arguments of ${name} contain an infinite number.`);
}

function encodedOrTooDeep(name: string, args: unknown) {
  try {
    return encode({ name, args });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new TypeError(`The arguments of ${name} refer to themselves, or are nested too deeply.`, { cause });
  }
}

/** Also for arguments that look like the encoding, which the service would otherwise decode. */
function needsMeta(args: unknown, meta: unknown[]): boolean {
  return meta.length > 0 || (typeof args === "object" && args !== null && "json" in args && "meta" in args);
}

/** @throws SvcError INVALID_ANSWER */
export function fromBody(answer: unknown, operation: Operation): unknown {
  try {
    if (typeof answer !== "object" || answer === null || !("json" in answer)) throw new TypeError("no json");
    if ("notice" in answer) warn(answer.notice);
    const result = decode(answer);
    return operation.columns ? convertRows(result, operation.columns, operation.name) : result;
  } catch (cause) {
    throw new SvcError("INVALID_ANSWER", "The answer cannot be read.", {
      status: 200,
      hint: "Check that client and service are of the same version.",
      cause,
    });
  }
}

/** Those that were printed already, on a page or a server that lives long. */
const said = new Set<unknown>();

/** The service says so to authors alone, while they develop. */
function warn(notice: unknown): void {
  if (said.has(notice)) return;
  said.add(notice);
  console.warn(`svc: ${notice}`);
}
