/** Procedures over `ctx.storage`, and a client that sends them files, for the tests of storage. */
import { mkdtempSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { createSvcProcedureBuilders, SvcError, v } from "../../src/index.ts";
import type { Database } from "./database.ts";
import type { Answer, TestService, User } from "./service.ts";
import { bearer } from "./service.ts";

const procedure = createSvcProcedureBuilders();
const byId = v.object({ id: v.string() });
const visibility = v.optional(v.any());

export const fileProcedures = {
  store: procedure.mutation
    .name("files.store")
    .allowAnonymous()
    .input(v.object({ file: v.file(), name: v.optional(v.string()), visibility, fail: v.optional(v.boolean()) }))
    .handler(async ({ context, input: { file, name, visibility, fail } }) => {
      const id = await context.storage.store(file, { ...(name !== undefined && { name }), visibility });
      if (fail) throw new Error("after storing");
      return { id };
    }),
  storeNamed: procedure.mutation
    .name("files.storeNamed")
    .input(v.object({ file: v.file(), name: v.string() }))
    .handler(async ({ context, input }) => ({ id: await context.storage.store(input.file, input.name) })),
  storeText: procedure.mutation
    .name("files.storeText")
    .input(v.object({ text: v.string(), name: v.string(), type: v.string() }))
    .handler(async ({ context, input }) => ({
      id: await context.storage.storeBuffer(Buffer.from(input.text), input.name, input.type),
    })),
  grant: procedure.query
    .name("files.grant")
    .allowAnonymous()
    .input(v.object({ id: v.string(), options: v.optional(v.any()) }))
    .handler(({ context, input }) => context.storage.createReadGrant(input.id, input.options)),
  meta: procedure.query
    .name("files.meta")
    .allowAnonymous()
    .input(byId)
    .handler(({ context, input }) => context.storage.getMeta(input.id)),
  publicUrl: procedure.query
    .name("files.publicUrl")
    .input(v.object({ id: v.any() }))
    .handler(({ context, input }) => context.storage.getPublicUrl(input.id)),
  read: procedure.query
    .name("files.read")
    .input(v.object({ id: v.string(), from: v.optional(v.any()) }))
    .handler(async ({ context, input }) => {
      const chunks: Buffer[] = [];
      for await (const chunk of await context.storage.read(input.id, input.from)) chunks.push(chunk);
      return Buffer.concat(chunks).toString("utf8");
    }),
  setVisibility: procedure.mutation
    .name("files.setVisibility")
    .input(v.object({ id: v.string(), visibility: v.any() }))
    .handler(async ({ context, input }) => {
      await context.storage.setVisibility(input.id, input.visibility);
      return null;
    }),
  remove: procedure.mutation
    .name("files.remove")
    .input(v.object({ id: v.string(), fail: v.optional(v.boolean()) }))
    .handler(async ({ context, input }) => {
      await context.storage.delete(input.id);
      if (input.fail) throw new Error("after deleting");
      return null;
    }),
  uploadUrl: procedure.mutation
    .name("files.uploadUrl")
    .input(v.object({ options: v.optional(v.any()), fail: v.optional(v.boolean()) }))
    .handler(async ({ context, input: { options, fail } }) => {
      const made = await context.storage.createUploadUrl(options);
      if (fail) throw new SvcError("CONFLICT", made.url);
      return made;
    }),
  storeInQuery: procedure.query
    .name("files.storeInQuery")
    .handler(async ({ context }) => context.storage.storeBuffer(Buffer.from("x"), "x", "text/plain")),
};

/** The id of a stored file's bytes. */
export async function bytesIdOf(db: Database, id: string): Promise<string> {
  const [row] = await db.sql<{ bytes: string }>(
    "select coalesce(bytes_id, id) as bytes from svc.storage_objects where id = $1",
    [id],
  );
  return row?.bytes ?? "";
}

/** A folder for a test file's bytes, removed afterwards. */
export function bytesFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-storage-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Calls a mutation with a file in the argument `file`. */
export function send(service: TestService, user: User | null, name: string, file: File, args: object = {}) {
  const form = new FormData();
  form.append(
    "data",
    JSON.stringify({ json: { name, args: { ...args, file: null } }, meta: [], maps: [["args", "file"]] }),
  );
  form.append("0", file);
  return service.fetch("/api/mutation", { method: "POST", headers: bearer(user), body: form });
}

/** Stores a file. @returns its storage id */
export async function stored(service: TestService, user: User | null, file: File, args: object = {}): Promise<string> {
  const { status, body }: Answer = await send(service, user, "files.store", file, args);
  if (status !== 200) throw new Error(`Storing failed with ${status}: ${JSON.stringify(body)}`);
  return body.json.id;
}

/** Removes what is in a folder. The folder stays: the service does not make it again while it runs. */
export async function emptyFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}
