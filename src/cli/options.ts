/** Reads the values of options. An invalid value is a DefinitionError. */
import { DefinitionError } from "../kit/definition-error.ts";
import { milliseconds } from "../kit/duration.ts";
import { dateOf, isIsoTime } from "../kit/iso-time.ts";

export const limitArgument = {
  limit: { type: "string", description: "Rows at most. (Default: 50)", default: "50" },
} as const;

/** A whole number. (Default of `most`: a million, for counts of rows, hours and days) */
export function wholeNumber(option: string, text: string, least = 1, most = 1_000_000): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new DefinitionError(`--${option} ${text} is not a whole number from ${least} to ${most}.`);
}

export const portNumber = (option: string, text: string): number => wholeNumber(option, text, 0, 65_535);

/** @returns null when the option is absent */
export function oneOf<Known extends string>(
  option: string,
  text: string | undefined,
  known: readonly Known[],
): Known | null {
  const found = known.find((one) => one === text);
  if (text === undefined || found !== undefined) return found ?? null;
  throw new DefinitionError(`--${option} ${text} is unknown.`, { hint: `There are: ${known.join(", ")}.` });
}

/** @param example of a value, in the shell's quotes @returns undefined when the option is absent */
export function json(option: string, text: string | undefined, example: string): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    throw new DefinitionError(`--${option} is not JSON.`, { hint: `Write --${option} '${example}'.` });
  }
}

/** @throws DefinitionError */
export function timeOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const isDate = /^\d{4}-/.test(text);
  const time = !isDate ? Date.now() - ago(text) : isIsoTime(text) ? dateOf(text).getTime() : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new DefinitionError(`--${option} ${text} is not a time.`, {
    hint: 'Write 2026-01-31T12:00:00Z, or how long ago: "10 minutes".',
  });
}

function ago(text: string): number {
  try {
    return milliseconds(text);
  } catch {
    return Number.NaN;
  }
}
