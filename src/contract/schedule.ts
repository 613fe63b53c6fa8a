/**
 * Parses the schedules of crons, and finds the latest due time for a worker. Clock times come from croner, which
 * handles clock changes in any IANA time zone.
 */
import { Cron as Croner } from "croner";
import { DefinitionError } from "../kit/definition-error.ts";
import { isTimeZone } from "../kit/time-zone.ts";

export interface Interval {
  hours?: number;
  minutes?: number;
  seconds?: number;
}

export interface Schedule {
  /** The text identifies the schedule: if it changes, the cron starts anew. */
  text: string;
  /** The latest time that is not after `now`, if any. @param anchor the start of intervals */
  latest(now: Date, anchor: Date): Date | null;
}

const units = { hours: 3_600_000, minutes: 60_000, seconds: 1_000 };
/** In milliseconds. */
const shortest = 10_000;
const days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

export function intervalSchedule(name: string, interval: Interval): Schedule {
  const parts = Object.entries(interval ?? {}).filter(([, amount]) => amount !== undefined);
  const isRight = ([unit, amount]: [string, unknown]) => unit in units && Number.isFinite(amount) && Number(amount) > 0;
  const length = parts.reduce((sum, [unit, amount]) => sum + units[unit as keyof typeof units] * Number(amount), 0);
  if (!parts.every(isRight) || !Number.isInteger(length) || length < shortest) {
    throw new DefinitionError(`The cron "${name}" has an invalid interval: ${JSON.stringify(interval)}.`, {
      hint: "Pass { hours }, { minutes } or { seconds }, together 10 seconds or more.",
    });
  }
  return {
    text: `every ${length} ms`,
    latest(now, anchor) {
      const passed = Math.floor((now.getTime() - anchor.getTime()) / length);
      return passed < 1 ? null : new Date(anchor.getTime() + passed * length);
    },
  };
}

export function dailySchedule(name: string, time: ClockTime): Schedule {
  return cronSchedule(name, clock(name, time, "*"), time.timezone);
}

export function weeklySchedule(name: string, time: ClockTime & { day: number | string }): Schedule {
  const given = time?.day;
  const day = typeof given === "string" ? days.indexOf(given.toLowerCase()) : given;
  if (!Number.isInteger(day) || day < 0 || day > 6) {
    throw new DefinitionError(`The cron "${name}": ${JSON.stringify(given)} is not a day of the week.`, {
      hint: 'Pass day from 0 (Sunday) to 6 (Saturday), or its name, such as "monday".',
    });
  }
  return cronSchedule(name, clock(name, time, String(day)), time.timezone);
}

function clock(name: string, time: ClockTime, day: string): string {
  const { hour, minute = 0 } = time ?? {};
  const isIn = (value: unknown, most: number) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most;
  if (!isIn(hour, 23) || !isIn(minute, 59)) {
    throw new DefinitionError(`The cron "${name}": ${JSON.stringify(time)} is not a time of day.`, {
      hint: "Pass { hour } from 0 to 23 and, if wanted, { minute } from 0 to 59.",
    });
  }
  return `0 ${minute} ${hour} * * ${day}`;
}

/** @throws DefinitionError for an expression that croner rejects, and for one that never matches */
export function cronSchedule(name: string, expression: string, timezone = "UTC"): Schedule {
  if (!isTimeZone(timezone)) {
    throw new DefinitionError(`The cron "${name}" has the unknown timezone ${JSON.stringify(timezone)}.`, {
      hint: 'Write an IANA name, such as "Europe/Berlin".',
    });
  }
  try {
    // By its offset, because a table of time zones takes longer to read than the rest of a small application.
    const clock = timezone === "UTC" ? { utcOffset: 0 } : { timezone };
    const times = new Croner(expression, { ...clock, paused: true });
    if (times.nextRun() === null) throw new Error("it never occurs.");
    return {
      text: `${expression} ${timezone}`,
      latest(now) {
        // The library searches before the given second, not at it.
        const after = new Date(Math.floor(now.getTime() / 1000) * 1000 + 1000);
        return times.previousRuns(1, after)[0] ?? null;
      },
    };
  } catch (error) {
    const reason = (error as Error).message.replace(/^CronPattern: /, "");
    throw new DefinitionError(`The cron "${name}" has the invalid schedule ${JSON.stringify(expression)}: ${reason}`, {
      hint: 'A cron expression is five parts, as in "30 3 * * mon-fri".',
    });
  }
}

export interface ClockTime {
  /** 0 to 23. */
  hour: number;
  /** 0 to 59. (Default: 0) */
  minute?: number;
  /** An IANA name, such as "Europe/Berlin". (Default: "UTC") */
  timezone?: string;
}
