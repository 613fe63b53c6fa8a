/**
 * Whether a list keeps its plan. It does if it compares by equality alone, and PostgreSQL's statistics say about the same
 * of its values as of values that are not known: then a plan for all values is the plan for these, and planning each call
 * would only repeat it. Without statistics each call is planned.
 * Next hop: `sql/crud/value_factors.sql`.
 */
import type pg from "pg";
import type { CrudDefinition, ReadShape } from "../contract/crud.ts";
import { qualified } from "./crud-text.ts";

/** How far estimates for the values of a list, multiplied, may be from those without values. */
const farthest = 4;

/** In milliseconds: how long statistics are trusted. Then they are read again, and until they are here, lists are planned. */
const trustedFor = 60_000;

/** As svc.value_factors() returns them. */
type Factors = Record<string, { others: number | null; listed: Record<string, number> }>;

/** The statistics that one process has read, by resource. */
class Statistics {
  readonly #system: pg.Pool;
  readonly #known = new Map<string, { factors: Factors; until: number }>();

  constructor(system: pg.Pool) {
    this.#system = system;
  }

  /** Empty if they are not known, or too old: then they are being read. */
  of(crud: CrudDefinition): Factors {
    const known = this.#known.get(crud.prefix);
    if (known && performance.now() < known.until) return known.factors;
    // Meanwhile, and after an error, calls are planned, and none of them asks again.
    const none = this.#keep(crud, {});
    void this.#read(crud).catch(() => {});
    return none;
  }

  #keep({ prefix }: CrudDefinition, factors: Factors): Factors {
    this.#known.set(prefix, { factors, until: performance.now() + trustedFor });
    return factors;
  }

  async #read(crud: CrudDefinition): Promise<void> {
    const filtered = crud.columns.filter(({ property }) => crud.allowedFilters.includes(property));
    const { rows } = await this.#system.query<{ factors: Factors }>({
      name: "svc_value_factors",
      text: "select svc.value_factors($1::regclass, $2::text[]) as factors",
      values: [qualified(crud), filtered.map(({ name }) => name)],
    });
    this.#keep(crud, rows[0]?.factors ?? {});
  }
}

const statistics = new WeakMap<pg.Pool, Statistics>();

/** @param system the pool whose login may read statistics */
export const keepPlans = (pool: pg.Pool, system: pg.Pool): void => void statistics.set(pool, new Statistics(system));

/** Whether the statement runs by a plan for all values. Lists of a pool without `keepPlans` do not, unless they have none. */
export function isPlanKept(pool: pg.Pool, { compared }: Pick<ReadShape, "compared">): boolean {
  if (!compared) return false;
  if (compared.values.length === 0) return true;
  const factors = statistics.get(pool)?.of(compared.crud);
  return factors !== undefined && areUsual(factors, compared.values);
}

/** Whether the estimates for these values are near those without them. */
export function areUsual(factors: Factors, values: readonly { column: string; value: string }[]): boolean {
  let distance = 1;
  for (const { column, value } of values) {
    const known = Object.hasOwn(factors, column) ? factors[column] : undefined;
    const factor = known && (Object.hasOwn(known.listed, value) ? known.listed[value] : known.others);
    if (typeof factor !== "number") return false;
    distance *= factor;
  }
  return distance <= farthest;
}
