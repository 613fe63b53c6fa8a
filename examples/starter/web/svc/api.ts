// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.
import {
  type FiltersOf,
  type MutationOf,
  mutation,
  type QueryOf,
  query,
  type ResourceQueryOf,
  type RowIn,
} from "@svc/client";
import type { WorkflowProcedures as Workflows } from "../../backend/generated/db.ts";
import type * as notesModule from "../../backend/notes.ts";

const notesColumns = {
  createdAt: "date",
  updatedAt: "date",
} as const;

interface NotesResource {
  row: RowIn<typeof notesModule.notesCrud.list>;
  filters: FiltersOf<typeof notesModule.notesCrud.list>;
  relations: Record<never, never>;
}

// Interfaces: the compiler names them in its messages, and infers the types of the members that are used.
interface NotesOperations {
  readonly list: ResourceQueryOf<typeof notesModule.notesCrud.list, NotesResource>;
  readonly get: ResourceQueryOf<typeof notesModule.notesCrud.get, NotesResource>;
  readonly create: MutationOf<typeof notesModule.notesCrud.create>;
  readonly update: MutationOf<typeof notesModule.notesCrud.update>;
  readonly remove: MutationOf<typeof notesModule.notesCrud.remove>;
  readonly clearDone: MutationOf<typeof notesModule.clearDone>;
}
interface WorkflowsOperations {
  readonly list: QueryOf<Workflows["list"]>;
  readonly get: QueryOf<Workflows["get"]>;
  readonly signal: MutationOf<Workflows["signal"]>;
  readonly cancel: MutationOf<Workflows["cancel"]>;
  readonly retry: MutationOf<Workflows["retry"]>;
}
export interface Api {
  readonly notes: NotesOperations;
  readonly workflows: WorkflowsOperations;
}

export const api: Api = {
  notes: {
    list: query("notes.list", notesColumns),
    get: query("notes.get", notesColumns),
    create: mutation("notes.create", notesColumns),
    update: mutation("notes.update", notesColumns),
    remove: mutation("notes.remove", notesColumns),
    clearDone: mutation("notes.clearDone"),
  },
  workflows: {
    list: query("workflows.list"),
    get: query("workflows.get"),
    signal: mutation("workflows.signal"),
    cancel: mutation("workflows.cancel"),
    retry: mutation("workflows.retry"),
  },
} as never;
