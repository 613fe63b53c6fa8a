// If this file fails, a new version of the platform replays runs of the previous version differently.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { beforeAll, describe, expect, test } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import type { WorkflowDefinition } from "../../src/contract/workflow.ts";
import { decodeValue, encodeValue, type Stored } from "../../src/workflows/encoding.ts";
import { runError, StepError } from "../../src/workflows/failure.ts";
import { replay } from "../../src/workflows/replay.ts";
import type { RecordedStep, ReplayPort } from "../../src/workflows/replay-port.ts";
import { database } from "../support/database.ts";
import { until, workers } from "../support/worker.ts";
import { scenarios } from "./histories/handlers.ts";

const folder = join(import.meta.dirname, "histories");
const file = (name: string) => join(folder, `${name}.json`);

/** A history as it is stored. */
interface History {
  status: string;
  result: Stored | null;
  error: unknown;
  steps: RecordedStep[];
}

if (process.env.RECORD_HISTORIES) {
  const db = database();
  const workflows = Object.fromEntries([...scenarios].map(([name, { workflow }]) => [name, workflow]));
  const start = workers(db, defineApi({ workflows }));
  beforeAll(() => start().then(() => {}));
  test.for([...scenarios])("records %s", async ([name, { workflow, events }]) => {
    const { name: called } = workflow["~svc"].workflow;
    const add = "select svc_private.add_run(null, true, $1, 1, '{\"json\": {}}', null, null, null) as id";
    const [run] = await db.sql<{ id: string }>(add, [called]);
    const look = async (): Promise<History> =>
      (
        await db.sql<{ it: History }>(
          `select json_build_object('status', r.status, 'result', r.result, 'error', r.error, 'steps', (
             select json_agg(json_build_object('position', s.position, 'kind', s.kind, 'name', s.name, 'done', s.is_done,
               'result', s.result, 'error', s.error) order by s.seq)
               from svc.workflow_steps s where s.run_id = r.id)) as it from svc.workflow_runs r where r.id = $1`,
          [run?.id],
        )
      )[0]?.it as History;
    for (const [event, payload] of events) {
      await until(async () => {
        const { status, steps } = await look();
        return status === "completed" || (steps ?? []).some(({ kind, done }) => kind === "wait" && !done);
      });
      const send = "select svc_private.signal_any_workflow($1, $2, $3)";
      await db.sql(send, [run?.id, event, encodeValue("The payload", payload)]);
    }
    await until(async () => ["completed", "failed"].includes((await look()).status));
    writeFileSync(file(name), `${JSON.stringify(await look(), null, 2)}\n`);
  });
}

/** A port in which steps are executed, and every wait ends as recorded. */
function world(history: History) {
  const done: string[] = [];
  const recorded = (position: string) => history.steps.find((step) => step.position === position);
  const port: ReplayPort = {
    async step(position, name, _last, run) {
      done.push(position);
      const step = { position } as Parameters<typeof run>[0];
      return run(step).catch((error) => {
        throw new StepError(runError(error, name), error);
      });
    },
    async wait(position) {
      done.push(position);
      return { done: true, result: recorded(position)?.result ?? null };
    },
    convert: () => Promise.reject(new Error("no documents here")),
    conversion: () => Promise.reject(new Error("no documents here")),
  };
  return { port, done };
}

const again = (definition: WorkflowDefinition, steps: RecordedStep[], port: ReplayPort) =>
  replay({
    runId: "018f0000-0000-7000-8000-000000000000",
    definition,
    args: {},
    recorded: steps,
    attempts: definition.retries.limit,
    port,
    signal: new AbortController().signal,
    log: pino({ level: "silent" }),
  });

const stored = readdirSync(folder).filter((name) => name.endsWith(".json"));

test("there are fifty histories, one for each scenario", () => {
  expect(stored).toHaveLength(50);
  expect(stored.sort()).toEqual([...scenarios.keys()].map((name) => `${name}.json`).sort());
});

describe.runIf(!process.env.RECORD_HISTORIES).for([...scenarios])("the history %s", ([name, { workflow }]) => {
  const definition = workflow["~svc"].workflow;
  const read = (): History => JSON.parse(readFileSync(file(name), "utf8"));

  test("ends as it ended, from each of its checkpoints, and does only what was left", async () => {
    const history = read();
    for (let kept = 0; kept <= history.steps.length; kept++) {
      const { port, done } = world(history);
      const before = history.steps.slice(0, kept);
      const ending = await again(definition, before, port);
      const rest = history.steps.slice(kept).map(({ position }) => position);
      expect(done.sort()).toEqual(rest.sort());
      if (ending.kind === "completed") {
        expect(history.status).toBe("completed");
        expect(JSON.parse(encodeValue("The result", ending.result))).toEqual(history.result);
        expect(ending.result).toEqual(decodeValue(history.result));
      } else {
        expect([history.status, ending.kind]).toEqual(["failed", "failed"]);
        expect(ending.kind === "failed" && runError(ending.error)).toEqual(history.error);
      }
    }
  });

  test("fails with NON_DETERMINISTIC wherever a step is another, and does nothing more", async () => {
    const history = read();
    for (const [index, step] of history.steps.entries()) {
      for (const other of [
        { ...step, name: `${step.name} renamed` },
        { ...step, kind: step.kind === "step" ? ("sleep" as const) : ("step" as const) },
        { ...step, position: `9.${step.position}` },
      ]) {
        const { port, done } = world(history);
        const ending = await again(definition, history.steps.with(index, other), port);
        expect(ending.kind === "failed" && runError(ending.error).code).toBe("NON_DETERMINISTIC");
        if (other.position === step.position) expect(done).toEqual([]);
      }
    }
  });
});
