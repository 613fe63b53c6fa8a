/** The AI module inside a workflow's step: as the run's user, and charged to that user. */
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { createAi, createSvcProcedureBuilders, v, workflow } from "../../src/index.ts";
import { aiProvider } from "../support/ai-provider.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { apiWith, service, type User } from "../support/service.ts";
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
const look = workflow("test.look", {
  args: { file: v.string() },
  handler: (wf, { file }) => wf.step("ocr", () => ai.vision.extractText({ storageId: file, model: "gpt-vision" })),
});
const startLook = createSvcProcedureBuilders()
  .mutation.name("test.startLook")
  .input(v.object({ type: v.string(), file: v.optional(v.string()), latin1: v.optional(v.string()) }))
  .handler(async ({ context, input }) => {
    const bytes = Buffer.from(input.latin1 ?? "a photo", "latin1");
    const file = input.file ?? (await context.storage.storeBuffer(bytes, "photo", input.type));
    return { file, ...(await context.workflows.start(look, { file })) };
  });
const start = createSvcProcedureBuilders()
  .mutation.name("test.startSpeak")
  .handler(({ context }) => context.workflows.start("test.speak", {}));

const db = database();
const provider = aiProvider();
const dir = bytesFolder();
const api = apiWith({ procedures: { start, startLook }, workflows: { speak, look } });
const storage = { driver: "disk" as const, dir };
const svc = service(db, api, { storage });
const startWorker = workers(db, api);

beforeAll(async () => {
  const base = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  await startWorker({ config: { ...base, storage, ai: { ...base.ai, baseUrl: provider.url } } });
});

test("a step reads the text of a stored image, of the run's user alone, and of images alone", async () => {
  const [ann, bob] = await Promise.all([svc.signUp("ann.looks"), svc.signUp("bob.looks")]);
  const ended = async (user: User, args: object) => {
    const { json } = (await svc.mutate(user, "test.startLook", args)).body;
    const run = async () => (await svc.query(user, "workflows.get", { id: json.id })).body.json;
    await expect.poll(async () => (await run()).status).not.toMatch(/pending|running/);
    return { ...(await run()), file: json.file };
  };
  const { file, status } = await ended(ann, { type: "image/png" });
  expect(status).toBe("completed");
  const [, image] = provider.asked.at(-1)?.body.messages[0].content ?? [];
  expect(image.image_url.url).toBe(`data:image/png;base64,${Buffer.from("a photo").toString("base64")}`);
  expect((await ended(bob, { type: "image/png", file })).error.code).toBe("NOT_FOUND");
  expect((await ended(ann, { type: "text/plain" })).error).toMatchObject({
    code: "BAD_REQUEST",
    message: "The stored file is not an image.",
    hint: expect.stringContaining("document.convert"),
  });
});

// A browser takes the type from the extension; a file without a known one has none.
test.for([
  ["application/pdf", "\xff\xd8\xff\xe0 a photo", "image/jpeg"],
  ["application/octet-stream", "\x89PNG\r\n a photo", "image/png"],
] as const)("a stored image of the wrong type %s is read as what it is", async ([type, latin1, is]) => {
  const cleo = await svc.signUp(`cleo.${is.slice(6)}`);
  const { json } = (await svc.mutate(cleo, "test.startLook", { type, latin1 })).body;
  await expect
    .poll(async () => (await svc.query(cleo, "workflows.get", { id: json.id })).body.json.status)
    .toBe("completed");
  const [, image] = provider.asked.at(-1)?.body.messages[0].content ?? [];
  expect(image.image_url.url).toBe(`data:${is};base64,${Buffer.from(latin1, "latin1").toString("base64")}`);
});

test("a step asks a model and stores what it says as the user who started the run", async () => {
  const ann = await svc.signUp("ann");
  const { body } = await svc.mutate(ann, "test.startSpeak");
  const run = async () => (await svc.query(ann, "workflows.get", { id: body.json.id })).body.json;
  await expect.poll(async () => (await run()).status).toBe("completed");
  const admin = await db.connect("admin");
  const objects = await admin.query("select user_id, name from svc.storage_objects where user_id = $1", [ann.id]);
  expect(objects.rows).toEqual([{ user_id: ann.id, name: "speech.mp3" }]);
  const ledger = await admin.query("select user_id, operation from svc.ai_ledger where user_id = $1 order by id", [
    ann.id,
  ]);
  expect(ledger.rows).toEqual([
    { user_id: ann.id, operation: "chat" },
    { user_id: ann.id, operation: "speech.synthesize" },
  ]);
});
