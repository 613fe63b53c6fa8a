/** Lists every kind of job. For a new kind, add a file in `tasks/` and a line here. */
import type { Task } from "./task.ts";
import { procedure } from "./tasks/procedure.ts";
import { sweepStorageTask } from "./tasks/sweep-storage.ts";
import { transcribe } from "./tasks/transcribe.ts";
import { workflow } from "./tasks/workflow.ts";

export const tasks: readonly Task[] = [procedure, sweepStorageTask, transcribe, workflow];
