/**
 * fast-check with the same cases in every run: what CI says about a change is said of that change. `npm run fuzz` and
 * `npm run chaos` look at others each time, and FUZZ_SEED repeats what they found.
 */
import fc from "fast-check";

const isLong = process.env.FUZZ_RUNS !== undefined || process.env.CHAOS_MUTATIONS !== undefined;
const given = process.env.FUZZ_SEED ?? (isLong ? undefined : 20260101);
if (given !== undefined) fc.configureGlobal({ seed: Number(given) });

export { fc };
