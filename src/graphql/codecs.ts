/**
 * Corrects formats of PostGraphile that would show another value: infinite times as null, years before Christ without BC,
 * 24:00 as 00:00, a time of another zone in UTC, negative intervals without their fraction, a range that is null as one without
 * bounds. Refuses numbers of JSON that JavaScript reads as Infinity, and applies the offset of a time that is compared with
 * one without zone.
 * Next hop: `preset.ts`, `tables-plugin.ts`; `plain-values.ts` gives plain documents the same forms.
 */
import { LIST_TYPES, type PgCodec, TYPES } from "@dataplan/pg";
import { type SQL, sql } from "pg-sql2";
import { dateOf } from "../kit/iso-time.ts";
import { SvcError } from "../kit/svc-error.ts";

type Cast = (value: SQL) => SQL;

/** As calls by name show it. */
const json: Cast = (value) => sql`to_json(${value}) #>> '{}'`;

/** The usual format for times that it can show. */
const unlessUnusual =
  (usual: Cast): Cast =>
  (value) =>
    sql`case when isfinite(${value}) and ${value} >= '0001-01-01' then ${usual(value)} else ${json(value)} end`;

const unlessMidnight =
  (usual: Cast): Cast =>
  (value) =>
    sql`case when ${value} = '24:00' then '24:00:00.000000' else ${usual(value)} end`;

/** PostGraphile would add a date, of which the time in UTC may be another one. */
const unlessOffset =
  (usual: Cast): Cast =>
  (value) =>
    sql`case when extract(timezone from ${value}) = 0 and ${value} < '24:00+00' then ${usual(value)} else ${json(value)} end`;

/** Apart, because to_char() writes the sign of seconds and that of their fraction. PostGraphile takes the parts. */
const parts: Cast = (value) => {
  const names = ["year", "month", "day", "hour", "minute", "second"];
  const fields = names.map((name) => sql`extract(${sql.literal(name)} from ${value})`);
  return sql`case when ${value} is not null then format('%s_%s_%s_%s_%s_%s', ${sql.join(fields, ", ")}) end`;
};

const each =
  (cast: Cast): Cast =>
  (list) => {
    const item = sql.identifier(Symbol("item"));
    return sql`case when ${list} is not null then array(select ${cast(item)} from unnest(${list}) as ${item})::text end`;
  };

const corrections: Partial<Record<keyof typeof TYPES & keyof typeof LIST_TYPES, (usual: Cast) => Cast>> = {
  timestamp: unlessUnusual,
  timestamptz: unlessUnusual,
  date: () => json,
  time: unlessMidnight,
  timetz: unlessOffset,
  interval: () => parts,
};

/** Cursors read nulls too: 0 would be made of null for an integer, and an error for a truth value. */
export function keepNull(codec: PgCodec): void {
  const { fromPg } = codec;
  try {
    if (fromPg(null as never) === null) return;
  } catch {}
  codec.fromPg = (value) => (value === null ? null : fromPg(value));
}

/** Changes the codecs of the library, which are one for the process. */
export function correctCodecs(): void {
  if (isCorrected) return;
  isCorrected = true;
  // A cursor is JSON: as an object, an interval could not be compared.
  const { fromPg, toPg } = TYPES.interval;
  TYPES.interval.fromPg = (value) => {
    const interval = fromPg(value);
    return Object.defineProperty(interval, "toJSON", { value: () => toPg(interval) });
  };
  for (const codec of [TYPES.json, TYPES.jsonb, LIST_TYPES.json, LIST_TYPES.jsonb] as PgCodec[]) {
    const { fromPg } = codec;
    codec.fromPg = (text) => {
      const value = fromPg(text);
      if (mayBeInfinite.test(text)) requireFinite(value);
      return value;
    };
  }
  for (const [codec, form] of [
    [TYPES.timestamp, utc],
    [TYPES.date, (text: string) => utc(text).split("T", 1)[0]],
  ] as [PgCodec, (text: string) => string][]) {
    const { toPg } = codec;
    codec.toPg = (value) => (typeof value === "string" && offset.test(value) ? form(value) : toPg(value));
  }
  for (const codec of Object.values(TYPES)) keepNull(codec);
  for (const [name, correct] of Object.entries(corrections)) {
    const codec = TYPES[name as keyof typeof corrections] as PgCodec;
    const cast = correct(codec.castFromPg as Cast);
    codec.castFromPg = cast;
    codec.listCastFromPg = each(cast);
    (LIST_TYPES[name as keyof typeof corrections] as PgCodec).castFromPg = each(cast);
  }
}
let isCorrected = false;

const offset = /^\d{4,6}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(\.\d+)?)?[+-]\d\d(:?\d\d)?$/;
/** PostgreSQL ignores the offset of a text that it reads as a time without zone; in filters and input it counts. */
function utc(text: string): string {
  const time = dateOf(text);
  if (Number.isNaN(time.getTime())) return text;
  return time
    .toISOString()
    .replace(/^\+0*/, "")
    .replace(/\.\d+Z$/, offset.exec(text)?.[1] ?? "");
}

const mayBeInfinite = /\d{309}|e\+?\d{3}/i;
/** PostGraphile would write Infinity into the answer, which is no JSON. */
function requireFinite(value: unknown): void {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    throw new SvcError("VALIDATION_FAILED", "GraphQL cannot represent a number of this JSON.");
  }
  if (typeof value === "object" && value !== null) Object.values(value).forEach(requireFinite);
}

/** A range of GraphQL has two bounds and nothing else: an empty one is an error of its field. */
export function correctRange(codec: PgCodec): void {
  if (!codec.rangeOfCodec || codec.arrayOfCodec || codec.domainOfCodec) return;
  const { castFromPg, fromPg } = codec;
  if (castFromPg) {
    const cast: Cast = (value) =>
      sql`case when isempty(${value}) then 'empty' when ${value} is not null then ${castFromPg(value)} end`;
    codec.castFromPg = cast;
    codec.listCastFromPg = each(cast);
  }
  codec.fromPg = (value) => {
    if (value === "empty") throw new SvcError("VALIDATION_FAILED", "GraphQL cannot represent an empty range.");
    return fromPg(value);
  };
}
