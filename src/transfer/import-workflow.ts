/**
 * The built-in workflow `crud.import`: reads a stored file in batches. The rows of a batch and its checkpoint commit
 * together, so a run that is killed continues behind its last batch. `<prefix>.import` starts it.
 * Next hop: `import-batch.ts` is one step.
 */
import type { CrudDefinition } from "../contract/crud.ts";
import { type Workflow, workflow } from "../contract/workflow.ts";
import { type ImportArgs, importName } from "../crud/crud-import.ts";
import { SvcError } from "../kit/svc-error.ts";
import { v } from "../kit/v.ts";
import { importBatch, openFile, type Refused, refusedHeader, refusedLines } from "./import-batch.ts";

/** A run's result. */
export interface ImportResult {
  /** Rows that were written. */
  written: number;
  /** Rows that were refused. */
  refused: number;
  /** The stored file with their lines and reasons; null: every row was written. */
  refusedFile: string | null;
  /** False if so many rows were refused that the rest of the file was not read. */
  complete: boolean;
}

/** After so many the file is read no further: it is of another table, or broken. */
const maxRefused = 10_000;

/** @param resources those that declare `transfer: { import: true }` */
export const importWorkflow = (resources: readonly CrudDefinition[]): Workflow =>
  workflow(importName, {
    args: v.any(),
    // For all users together: each keeps a connection of the requests' pool busy.
    concurrency: 2,
    handler: async (wf, given): Promise<ImportResult> => {
      const args = given as ImportArgs;
      const crud = resources.find(({ prefix }) => prefix === args.resource);
      if (!crud) throw new SvcError("NOT_FOUND", `The resource "${args.resource}" no longer imports rows.`);
      const file = await wf.step("open", () => openFile(crud, wf.storage, args));
      let { place } = file;
      let written = 0;
      const refused: Refused[] = [];
      while (place.offset < file.size && refused.length < maxRefused) {
        const from = place;
        const batch = await wf.step("rows", async () => {
          const access = { files: wf.storage, db: () => wf.db };
          const result = await importBatch(crud, access, args, file, from);
          // For those who look at the run's steps.
          const percent = Math.floor((result.place.offset / file.size) * 100);
          return { ...result, progress: { written: written + result.written, percent } };
        });
        place = batch.place;
        written += batch.written;
        refused.push(...batch.refused);
      }
      const refusedFile = refused.length > 0 ? await wf.step("refused", () => store(wf.storage, refused)) : null;
      return { written, refused: refused.length, refusedFile, complete: place.offset >= file.size };
    },
  }) as Workflow;

function store(
  files: { storeBuffer(bytes: Uint8Array, name: string, type: string): Promise<string> },
  refused: Refused[],
) {
  return files.storeBuffer(Buffer.from(refusedHeader + refusedLines(refused)), "refused.csv", "text/csv");
}
