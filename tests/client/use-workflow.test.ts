// @vitest-environment jsdom
/** `useWorkflow` in a document, against a real service and worker: a run is followed from its start to its end. */
import { cleanup, configure, render, screen } from "@testing-library/react";
import { createElement as h, version } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { SvcProvider, useWorkflow } from "../../client/react/src/index.ts";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { createSvcProcedureBuilders } from "../../src/contract/procedure.ts";
import { workflow } from "../../src/contract/workflow.ts";
import { v } from "../../src/kit/v.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { workers } from "../support/worker.ts";

const procedure = createSvcProcedureBuilders();
const greet = workflow("greet", {
  args: v.object({ name: v.string() }),
  handler: async (wf, { name }) => {
    const greeting = await wf.step("write", () => `Hello, ${name}`);
    await wf.waitForEvent("read");
    return greeting;
  },
});
const start = procedure.mutation
  .name("greet.start")
  .input(v.object({ name: v.string() }))
  .handler(({ context, input }) => context.workflows.start("greet", input));

const db = database();
const definitions = apiWith({ workflows: { greet }, procedures: { start } });
const svc = service(db, definitions);
const startWorker = workers(db, definitions);
configure({ asyncUtilTimeout: 20_000 });
afterEach(cleanup);

test("follows a run from its start to its end, without asking again by itself", async ({ task }) => {
  await startWorker();
  const warned = vi.spyOn(console, "warn");
  const auth = createAuthClient(svc.url, { sessionTokenStorage: "memory" });
  await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  const client = createSvcClient({ api, baseUrl: svc.url, auth, WebSocket: WebSocket as never });

  function Run({ id }: { id: string | null }) {
    const { data: run, isPending } = useWorkflow(id);
    if (isPending) return h("p", null, "waiting");
    return h("p", null, `${run?.derivedStatus} ${run?.steps.map(({ name }) => name).join(", ")} ${run?.result ?? ""}`);
  }
  const page = (id: string | null) => h(SvcProvider, { apiClient: client }, h(Run, { id }));
  const shown = render(page(null));
  screen.getByText("waiting");

  const { id } = (await client.mutate(
    { name: "greet.start", kind: "mutation" } as never,
    { name: "Ann" } as never,
  )) as {
    id: string;
  };
  shown.rerender(page(id));
  await screen.findByText(/^waiting write, read/);
  await client.mutate(api.workflows.signal, { id, event: "read", payload: null });
  await screen.findByText("completed write, read Hello, Ann");
  expect(warned.mock.calls).toEqual([]); // such as a notice that this query misses changes
  expect(version.split(".")[0]).toBe(task.file.projectName === "react-18" ? "18" : "19");
});
