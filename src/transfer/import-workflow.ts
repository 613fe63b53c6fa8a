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
import { importBatch, openFile, type Refused } from "./import-batch.ts";

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
          const { refused: now, ...result } = await importBatch(
            crud,
            { files: wf.storage, db: () => wf.db },
            args,
            file,
            from,
          );
          return {
            ...result,
            refused: now,
            progress: progressOf(result.place.offset, file.size, written + result.written),
          };
        });
        place = batch.place;
        written += batch.written;
        refused.push(...batch.refused);
      }
      const refusedFile = refused.length > 0 ? await wf.step("refused", () => store(wf.storage, refused)) : null;
      return { written, refused: refused.length, refusedFile, complete: place.offset >= file.size };
    },
  }) as Workflow;

/** For those who look at the run's steps. */
const progressOf = (offset: number, size: number, written: number) => ({
  written,
  percent: Math.floor((offset / size) * 100),
});

function store(
  files: { storeBuffer(bytes: Uint8Array, name: string, type: string): Promise<string> },
  refused: Refused[],
) {
  const lines = refused.map(([line, code, reason]) => `${line},${code},"${reason.replaceAll('"', '""')}"\r\n`);
  return files.storeBuffer(Buffer.from(`line,code,reason\r\n${lines.join("")}`), "refused.csv", "text/csv");
}
