/** The AI module inside a workflow's step: as the run's user, at their cost. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/define/load-config.ts";
import { createAi, createSvcProcedureBuilders, workflow } from "../../src/index.ts";
import { aiProvider } from "../support/ai-provider.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { apiWith, service } from "../support/service.ts";
import { workers } from "../support/worker.ts";

const ai = createAi();
const speak = workflow("test.speak", {
  handler: async (wf) => {
    const { text } = await wf.step("ask", () =>
      ai.chat({ messages: [{ role: "user", content: "hello" }], model: "m" }),
    );
    return wf.step("say", () => ai.speech.synthesize({ input: text, model: "tts" }));
  },
});
const start = createSvcProcedureBuilders()
  .mutation.name("test.startSpeak")
  .handler(({ context }) => context.workflows.start("test.speak", {}));

const db = database();
const provider = aiProvider();
const dir = bytesFolder();
const api = apiWith({ procedures: { start }, workflows: { speak } });
const storage = { driver: "disk" as const, dir };
const svc = service(db, api, { storage });
const startWorker = workers(db, api);

test("a step asks a model and stores what it says as the user who started the run", async () => {
  const base = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  await startWorker({ config: { ...base, storage, ai: { ...base.ai, baseUrl: provider.url } } });
  const ann = await svc.signUp("ann");
  const { body } = await svc.mutate(ann, "test.startSpeak");
  const run = async () => (await svc.query(ann, "workflows.get", { id: body.json.id })).body.json;
  await expect.poll(async () => (await run()).status).toBe("completed");
  const admin = await db.connect("admin");
  const objects = await admin.query("select user_id, name from svc.storage_objects");
  expect(objects.rows).toEqual([{ user_id: ann.id, name: "speech.mp3" }]);
  const ledger = await admin.query("select user_id, operation from svc.ai_ledger order by id");
  expect(ledger.rows).toEqual([
    { user_id: ann.id, operation: "chat" },
    { user_id: ann.id, operation: "speech.synthesize" },
  ]);
});
