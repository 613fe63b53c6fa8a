/** A worker for `workflows.ts` to kill: says when it has begun the second step of a run, and never ends that one itself. */
import { workflow } from "../src/index.ts";
import { startFlows } from "./workflow-app.ts";

const [urls = "{}", mode = "hold"] = process.argv.slice(2);
const two = workflow("bench.two", {
  handler: async (wf) => {
    await wf.step("one", () => 1);
    await wf.step("two", async () => {
      process.send?.(wf.runId);
      if (mode === "hold") await new Promise(() => {});
    });
  },
});
await startFlows(JSON.parse(urls), { two }, 1);
process.on("disconnect", () => process.exit());
