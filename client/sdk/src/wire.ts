/**
 * Encodes values that JSON does not have: `{ json, meta }`, where each entry of meta is a type's code and the path of
 * the value. With files, `maps` has the path of each. Source: https://orpc.dev/docs/advanced/rpc-protocol
 */

/** The codes of the protocol. Bundlers write these as numbers; they would keep an object. */
const aBigint = 0;
const aDate = 1;
const aNaN = 2;
const anUndefined = 3;
const aUrl = 4;
const aRegExp = 5;
const aSet = 6;
const aMap = 7;

type Path = (string | number)[];

export interface Encoded {
  json: unknown;
  meta: [number, ...Path][];
  /** The paths of the files; each file is a part of a multipart body. */
  maps: Path[];
  files: Blob[];
  /** Whether it has an infinite number, which the protocol has no code for: JSON would make null of it. */
  isInfinite: boolean;
}

export function encode(value: unknown): Encoded {
  const encoded: Encoded = { json: undefined, meta: [], maps: [], files: [], isInfinite: false };
  encoded.json = write(value, [], encoded);
  return encoded;
}

function write(value: unknown, path: Path, out: Encoded): unknown {
  /** Records the type after those of inner values, so that a reader restores from the inside out. */
  const as = (code: number, json: unknown) => {
    out.meta.push([code, ...path]);
    return json;
  };
  if (typeof value === "bigint") return as(aBigint, value.toString());
  if (typeof value === "number") {
    if (Number.isNaN(value)) return as(aNaN, null);
    out.isInfinite ||= !Number.isFinite(value);
    return value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Blob) {
    out.maps.push(path);
    out.files.push(value);
    return null;
  }
  if (value instanceof Uint8Array) return toBase64(value);
  if (value instanceof Date) return as(aDate, Number.isNaN(value.getTime()) ? null : value.toISOString());
  if (value instanceof URL) return as(aUrl, value.href);
  if (value instanceof RegExp) return as(aRegExp, value.toString());
  if (value instanceof Set) return as(aSet, write([...value], path, out));
  if (value instanceof Map) return as(aMap, write([...value], path, out));
  if (Array.isArray(value)) {
    return value.map((item, index) => {
      if (item !== undefined) return write(item, [...path, index], out);
      out.meta.push([anUndefined, ...path, index]);
      return null;
    });
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, write(item, [...path, key], out)]));
}

/** Bytes have no code in the protocol: they are sent in the form that generated CRUD accepts. */
function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** @throws TypeError if meta does not fit the value */
export function decode({ json, meta = [] }: { json?: unknown; meta?: unknown }): unknown {
  const holder = { json };
  for (const [code, ...path] of meta as [number, ...Path][]) {
    const keys: Path = ["json", ...path];
    const last = keys.pop() as string;
    const parent = keys.reduce((at: unknown, key) => own(at, key), holder) as Record<string, unknown>;
    parent[last] = read(code, own(parent, last));
  }
  return holder.json;
}

/** Only own members count, so a path through `__proto__` is refused. */
function own(value: unknown, key: string | number): unknown {
  if (typeof value === "object" && value !== null && Object.hasOwn(value, key)) return value[key as never];
  throw new TypeError(`meta names "${key}", which is not there`);
}

function read(code: number, value: unknown): unknown {
  switch (code) {
    case aBigint:
      return BigInt(value as string);
    case aDate:
      return new Date((value as string | null) ?? Number.NaN);
    case aNaN:
      return Number.NaN;
    case anUndefined:
      return undefined;
    case aUrl:
      return new URL(value as string);
    case aRegExp: {
      const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(value as string) ?? [];
      return new RegExp(source ?? "", flags);
    }
    case aSet:
      return new Set(value as unknown[]);
    case aMap:
      return new Map(value as [unknown, unknown][]);
    default:
      throw new TypeError(`meta has the unknown code ${code}`);
  }
}
