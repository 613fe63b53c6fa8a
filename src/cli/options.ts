/** What commands take: words, options and flags. An invalid value is a DefinitionError. */
import { DefinitionError } from "../kit/definition-error.ts";
import { milliseconds } from "../kit/duration.ts";
import { dateOf, isIsoTime } from "../kit/iso-time.ts";
import type { Argument } from "./define.ts";

/** A word that must be there. */
export const word = (description: string, read?: Argument<string>["read"]): Argument<string> => ({
  kind: "word",
  description,
  required: true,
  read,
});

export const optionalWord = (description: string, read?: Argument<string>["read"]): Argument<string | undefined> => ({
  kind: "word",
  description,
  read,
});

/** All remaining words, which another program reads. */
export const words = (description: string): Argument<string[]> => ({
  kind: "word",
  description,
  repeatable: true,
  mayBeEmpty: true,
});

/** @param how with `default: true`, the description is that of --no-NAME */
export const flag = (description: string, how?: { alias?: string; default?: true }): Argument<boolean> => ({
  kind: "flag",
  description,
  ...how,
});

export function text(description: string, how: { default: string } | { required: true }): Argument<string>;
export function text(description: string, how?: { alias?: string; mayBeEmpty?: boolean }): Argument<string | undefined>;
export function text(description: string, how?: object): Argument<string | undefined> {
  return { kind: "option", description, ...how };
}

/** An option that may stand several times. */
export const texts = (description: string): Argument<string[]> => ({ kind: "option", description, repeatable: true });

interface Range {
  default?: number;
  /** (Default: 1) */
  least?: number;
  /** (Default: a million, for counts of rows, hours and days) */
  most?: number;
}

/** A whole number. */
export function number(description: string, range: Range & { default: number }): Argument<number>;
export function number(description: string, range?: Range): Argument<number | undefined>;
export function number(description: string, { default: usual, least = 1, most = 1_000_000 }: Range = {}) {
  const read = (text: string, name: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new DefinitionError(`--${name} ${text} is not a whole number from ${least} to ${most}.`);
  };
  return { kind: "option" as const, description, read, ...(usual !== undefined && { default: String(usual) }) };
}

export const limit = number("Rows at most.", { default: 50 });

/** 0 is any free one. */
export const portRange = { least: 0, most: 65_535 };

export function choice<Known extends string>(known: readonly Known[], description: string): Argument<Known | undefined>;
export function choice<Known extends string>(
  known: readonly Known[],
  description: string,
  how: { default: Known },
): Argument<Known>;
export function choice<Known extends string>(known: readonly Known[], description: string, how?: object) {
  const read = (text: string, name: string): Known => {
    const found = known.find((one) => one === text);
    if (found !== undefined) return found;
    throw new DefinitionError(`--${name} ${text} is unknown.`, { hint: `There are: ${known.join(", ")}.` });
  };
  return { kind: "option" as const, description, read, ...how };
}

/** @param example of a value, in the shell's quotes */
export const json = (description: string, example: string): Argument<unknown> => ({
  kind: "option",
  description,
  read: (text, name) => parseJson(name, text, example),
});

export function parseJson(name: string, text: string, example: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DefinitionError(`--${name} is not JSON.`, { hint: `Write --${name} '${example}'.` });
  }
}

/** A time, or how long ago it was. In milliseconds since 1970. */
export const moment = (description: string): Argument<number | undefined> => ({
  kind: "option",
  description,
  read(text, name) {
    const isDate = /^\d{4}-/.test(text);
    const time = !isDate ? Date.now() - ago(text) : isIsoTime(text) ? dateOf(text).getTime() : Number.NaN;
    if (!Number.isNaN(time)) return time;
    throw new DefinitionError(`--${name} ${text} is not a time.`, {
      hint: 'Write 2026-01-31T12:00:00Z, or how long ago: "10 minutes".',
    });
  },
});

function ago(text: string): number {
  try {
    return milliseconds(text);
  } catch {
    return Number.NaN;
  }
}

/** Numbers of rows that are counted up, such as jobs. */
export const isEntry = (text: string): boolean => /^[1-9]\d{0,17}$/.test(text);

/** The last entry of the page before. @param list the command that shows entries */
export const before = (list: string): Argument<string | undefined> => ({
  kind: "option",
  description: "Only entries before this one: the last of the page before. (Default: none)",
  read(text) {
    if (isEntry(text)) return text;
    throw new DefinitionError(`--before ${text} is not an entry.`, { hint: `Entries are numbers: see \`${list}\`.` });
  },
});

/** @param what such as "a job's id" @param hint where to find one */
export const idReader = (what: string, isId: (text: string) => boolean, hint: string) => (text: string) => {
  if (isId(text)) return text;
  throw new DefinitionError(`"${text}" is not ${what}.`, { hint });
};
