/**
 * Crons: internal procedures that run on a schedule, as the system and without arguments.
 * Next hop: `workers/crontab.ts` finds due crons, `src/contract/schedule.ts` defines schedules.
 */
import { DefinitionError } from "../kit/definition-error.ts";
import type { Procedure, ProcedureDefinition, ProcedureTypes } from "./procedure.ts";
import {
  type ClockTime,
  cronSchedule,
  dailySchedule,
  type Interval,
  intervalSchedule,
  type Schedule,
  weeklySchedule,
} from "./schedule.ts";

/** The definition of a cron, for the runtime. */
export interface CronDefinition {
  name: string;
  schedule: Schedule;
  procedure: ProcedureDefinition;
}

/** A finished cron, to be registered under `crons` of `defineApi`. */
export interface Cron {
  readonly "~svc": { readonly cron: CronDefinition };
}

type Internal = ProcedureTypes & { kind: "internal" };

/** A cron with a name and an optional schedule. Each call returns a new builder. */
export class CronBuilder {
  readonly #name: string;
  readonly #schedule: Schedule | undefined;

  constructor(name: string, schedule?: Schedule) {
    this.#name = name;
    this.#schedule = schedule;
  }

  /**
   * At a fixed interval, counted from the first registration of the cron. It does not align with the clock: 45 minutes
   * always means 45 minutes.
   */
  interval(interval: Interval): CronBuilder {
    return this.#with(intervalSchedule(this.#name, interval));
  }

  /** Once a day. When the clocks change, a skipped time runs at the change, and a repeated time runs once. */
  daily(time: ClockTime): CronBuilder {
    return this.#with(dailySchedule(this.#name, time));
  }

  /** Once a week. @param time `day` from 0 (Sunday) to 6, or its English name */
  weekly(time: ClockTime & { day: number | string }): CronBuilder {
    return this.#with(weeklySchedule(this.#name, time));
  }

  /** By a cron expression of five fields, or six with seconds first. */
  cron(expression: string, options: { timezone?: string } = {}): CronBuilder {
    return this.#with(cronSchedule(this.#name, expression, options.timezone));
  }

  /** Finishes the cron. @param procedure an internal one; it runs as the system, and its input is undefined */
  handler<T extends Internal>(procedure: Procedure<T>): Cron {
    const definition = procedure?.["~svc"]?.procedure;
    if (definition?.kind !== "internal") {
      throw new DefinitionError(`The handler of the cron "${this.#name}" is not an internal procedure.`, {
        hint: "Make it with procedure.internal, and end that with .handler(…).",
      });
    }
    if (!this.#schedule) {
      throw new DefinitionError(`The cron "${this.#name}" has no schedule.`, {
        hint: "Call .interval(…), .daily(…), .weekly(…) or .cron(…) before .handler(…).",
      });
    }
    return { "~svc": { cron: { name: this.#name, schedule: this.#schedule, procedure: definition } } };
  }

  #with(schedule: Schedule): CronBuilder {
    if (this.#schedule) {
      throw new DefinitionError(`The cron "${this.#name}" has two schedules.`, { hint: "Define two crons." });
    }
    return new CronBuilder(this.#name, schedule);
  }
}

/**
 * Begins a cron.
 *
 * @example
 * cron.name("nightly").daily({ hour: 3, timezone: "Europe/Berlin" }).handler(digest)
 */
export const cron = {
  name(name: string): CronBuilder {
    if (typeof name !== "string" || !/^[\w.:-]{1,128}$/.test(name)) {
      throw new DefinitionError(`${JSON.stringify(name)} cannot be the name of a cron.`, {
        hint: "Use only letters, digits and _ . : -; at most 128 characters.",
      });
    }
    return new CronBuilder(name);
  },
};

/** @throws DefinitionError for a value that is not a cron, and for two crons with one name */
export function collectCrons(bag: Readonly<Record<string, unknown>>, place = "crons"): CronDefinition[] {
  const seen = new Set<string>();
  return Object.entries(bag).map(([key, value]) => {
    const definition = (value as Cron | undefined)?.["~svc"]?.cron;
    if (!definition) {
      const unfinished = value instanceof CronBuilder;
      throw new DefinitionError(`${place}.${key} is ${unfinished ? "not finished" : "not a cron"}.`, {
        hint: unfinished ? "End it with .handler(…)." : 'Make it with cron.name("…").',
      });
    }
    if (seen.has(definition.name)) {
      throw new DefinitionError(`Two crons are named "${definition.name}"; the second is ${place}.${key}.`, {
        hint: "Give one of them another .name(): the database identifies a cron by its name.",
      });
    }
    seen.add(definition.name);
    return definition;
  });
}
