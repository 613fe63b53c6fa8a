/**
 * `<prefix>.import`: a mutation that starts the workflow `crud.import` over a stored file of the caller.
 * Next hop: `src/transfer/import-workflow.ts` is the workflow.
 */
import { z } from "zod";
import type { CrudDefinition } from "../contract/crud.ts";
import { createSvcProcedureBuilders, type Procedure } from "../contract/procedure.ts";
import { must, oneOf } from "../kit/options.ts";
import { SvcError } from "../kit/svc-error.ts";
import { keyNamed, keysOf } from "./crud-keys.ts";

/** The workflow's name. */
export const importName = "crud.import";

const inputSchema = z.strictObject({
  storageId: z.uuid(must("the id of a stored file")),
  format: oneOf(["csv", "ndjson"]),
  mode: oneOf(["insert", "upsert"]).default("insert"),
  by: z.union([z.string(), z.array(z.string())], must("a column, or a list of columns")).optional(),
});

/** What the workflow gets: also the prefix of the resource, and the properties of the key of an upsert as a list. */
export type ImportArgs = Omit<z.output<typeof inputSchema>, "by"> & { resource: string; by?: string[] | undefined };

const { mutation } = createSvcProcedureBuilders();

export const importProcedure = (crud: CrudDefinition): Procedure =>
  mutation
    .name(`${crud.prefix}.import`)
    .input(inputSchema)
    .handler(async ({ context, input: { by, ...input } }) => {
      const key = by === undefined ? undefined : [by].flat();
      checkKey(crud, input.mode, key);
      await context.storage.requireOwned(input.storageId);
      return context.workflows.start(importName, { ...input, resource: crud.prefix, ...(key && { by: key }) });
    });

/** @throws SvcError VALIDATION_FAILED unless the key is one that the resource declares */
export function checkKey(crud: CrudDefinition, mode: ImportArgs["mode"], key: string[] | undefined): void {
  const refuse = (path: string, message: string): never => {
    throw new SvcError("VALIDATION_FAILED", undefined, { issues: [{ path: [path], message }] });
  };
  if (mode === "insert") {
    if (key) refuse("by", 'is for mode "upsert"');
    return;
  }
  if (crud.upsertBy.length === 0) refuse("mode", 'must be "insert": this resource has no upsertBy');
  if (!keyNamed(crud, key ?? [])) refuse("by", `must be ${keysOf(crud)}`);
}
