/** The workflow of the crash tests: ten steps in a row and ten in parallel, each of which writes a row. */
import { workflow } from "../../src/index.ts";
import { notes } from "../fixture/backend/schema.ts";

export const names = [
  ...Array.from({ length: 10 }, (_, index) => `step ${index}`),
  ...Array.from({ length: 10 }, (_, index) => `branch ${index}`),
];

/** Points at which a process may die. */
export interface Points {
  /** At the beginning of a step. */
  began(run: string, name: string): unknown;
  /** In a step that has written its row but not its checkpoint. */
  wrote(run: string, name: string): unknown;
  /** After the checkpoint of a step; also at each replay that passes it. */
  passed(run: string, name: string): unknown;
}

export const twentySteps = (points: Points) =>
  workflow("crash.steps", {
    handler: async (wf) => {
      const step = async (name: string) => {
        await wf.step(name, async () => {
          await points.began(wf.runId, name);
          // The policy only accepts the user's own id.
          const title = `${wf.runId} ${name}`;
          await wf.db.insert(notes).values({ title, userId: "a user of the crashes" });
          await points.wrote(wf.runId, name);
        });
        await points.passed(wf.runId, name);
      };
      for (const name of names.slice(0, 10)) await step(name);
      await wf.parallel(names.slice(10).map((name) => () => step(name)));
    },
  });
