/**
 * The handlers whose runs are recorded in the JSON files beside this one. They represent workflows of applications that
 * are in progress during an upgrade: change the platform, not them. `RECORD_HISTORIES=1 vitest run
 * tests/workflows/histories.test.ts` records the runs again, which is only right to add a history of a new shape.
 */
import { SvcError, type Workflow, type WorkflowContext, workflow } from "../../../src/index.ts";

/** The workflow of a history, and its signals. */
export interface Scenario {
  workflow: Workflow;
  events: readonly (readonly [name: string, payload: unknown])[];
}

/** Results of steps, by the number of the scenario: all values that the encoding distinguishes. */
const values = [
  null,
  undefined,
  0,
  -1.5,
  "",
  "text\nof two lines, “quoted”",
  [1, [2, [3]]],
  { nested: { deeply: [{ yes: true }] } },
  new Date(1_700_000_000_000),
  12_345_678_901_234_567_890n,
  new Set(["a", "b"]),
  new Map([["key", new Date(0)]]),
  new URL("https://example.com/a?b=c"),
  /^pattern$/i,
  { date: new Date(1), missing: undefined, list: [1n, null] },
] as const;

const row = (index: number) =>
  workflow(`history.row${index}`, {
    handler: async (wf) => {
      const results: unknown[] = [];
      for (let step = 0; step <= index % 7; step++) {
        results.push(await wf.step(`step ${step}`, () => values[(index + step) % values.length]));
      }
      return results;
    },
  });

const branches = (index: number) =>
  workflow(`history.branches${index}`, {
    handler: async (wf) => {
      const before = await wf.step("before", () => index);
      const inside = await wf.parallel(
        Array.from({ length: 2 + (index % 4) }, (_, branch) => async () => {
          if (branch % 2 === 1) await wf.sleep(branch);
          const own = await wf.step(`branch ${branch}`, () => branch * index);
          // A parallel in a parallel: positions of three levels.
          const deeper = index % 3 === 0 ? await wf.parallel([() => wf.step("deep", () => own), () => "plain"]) : [];
          return [own, ...deeper];
        }),
      );
      return { before, inside, after: await wf.step("after", () => "done") };
    },
  });

const decisions = (index: number) =>
  workflow(`history.decisions${index}`, {
    handler: async (wf) => {
      const asked = await wf.step("ask", () => new Date(index));
      const first = await wf.waitForEvent("decision", index % 3 === 0 ? 1 : "1 hour");
      const second = first?.again ? await wf.waitForEvent("decision", "1 hour") : null;
      return { asked, first, second };
    },
  });

const failures = (index: number) =>
  workflow(`history.failures${index}`, {
    retries: { limit: index % 2, delay: 1 },
    handler: async (wf) => {
      const outcome = await caught(wf, index);
      await wf.step("go on", () => outcome);
      if (index % 5 === 0) throw new SvcError("CONFLICT", "It ends badly.");
      return outcome;
    },
  });

async function caught(wf: WorkflowContext, index: number): Promise<string> {
  try {
    return await wf.step("refused", () => {
      throw new SvcError(index % 2 ? "FORBIDDEN" : "CONFLICT", `No, for reason ${index}.`);
    });
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

/** Fifty scenarios, by their file names. */
export const scenarios = new Map<string, Scenario>(
  [
    ...times(16, (index) => ({ workflow: row(index), events: [] })),
    ...times(12, (index) => ({ workflow: branches(index), events: [] })),
    ...times(12, (index) => ({
      workflow: decisions(index),
      events: [
        ["decision", { again: index % 2 === 0, at: new Date(index) }],
        ["decision", { again: false }],
      ] as const,
    })),
    ...times(10, (index) => ({ workflow: failures(index), events: [] })),
  ].map((scenario) => [scenario.workflow["~svc"].workflow.name.replace("history.", ""), scenario]),
);
