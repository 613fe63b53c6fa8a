/**
 * A worker in a separate process that kills itself, as kill -9 does, at its n-th point: after a checkpoint, or in a
 * step that has written its row but not its checkpoint. Zero: it stays alive.
 */
import pg from "pg";
import { defineApi } from "../../src/app/api.ts";
import { work } from "./child.ts";
import { twentySteps } from "./twenty-steps.ts";

const [urls = "{}", secret = "", where = "passed", at = "0"] = process.argv.slice(2);
const witness = new pg.Pool({ connectionString: JSON.parse(urls).admin, max: 4 });
/** Steps that this process has executed; a step that a replay only passes is not a new point. */
const fresh = new Set<string>();
let points = 0;
const die = (here: string) => {
  if (here === where && ++points === Number(at)) process.kill(process.pid, "SIGKILL");
};

const steps = twentySteps({
  began(run, name) {
    fresh.add(run + name);
    // Outside the step's transaction, so that a crash does not roll it back.
    return witness.query("insert into public.starts (run, name) values ($1, $2)", [run, name]);
  },
  wrote: () => die("wrote"),
  passed: (run, name) => fresh.has(run + name) && die("passed"),
});

await work({ api: defineApi({ workflows: { steps } }), urls, secret }, { rescueEveryMs: 100, queues: ["workflow"] });
