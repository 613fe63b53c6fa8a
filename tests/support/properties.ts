/**
 * fast-check with the same cases in every run, so that a CI failure is caused by the change. `npm run fuzz` and `npm
 * run chaos` use new cases each time, and FUZZ_SEED repeats theirs.
 */
import fc from "fast-check";

const isLong = process.env.FUZZ_RUNS !== undefined || process.env.CHAOS_MUTATIONS !== undefined;
const given = process.env.FUZZ_SEED ?? (isLong ? undefined : 20260101);
if (given !== undefined) fc.configureGlobal({ seed: Number(given) });

export { fc };
