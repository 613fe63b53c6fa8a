// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.
import { type FiltersOf, mutation, query, type RowIn, resourceQuery } from "@svc/client";
import type backend from "../../../backend/index.ts";

type Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;
type Workflows = NonNullable<(typeof backend)["~svc"]["workflowTypes"]>;

const notesColumns = {
  createdAt: "date",
} as const;

interface NotesResource {
  row: RowIn<Procedures["notes"]["list"]>;
  filters: FiltersOf<Procedures["notes"]["list"]>;
  relations: Record<never, never>;
}

const operations = {
  notes: {
    list: resourceQuery<Procedures["notes"]["list"], NotesResource>("notes.list", notesColumns),
    get: resourceQuery<Procedures["notes"]["get"], NotesResource>("notes.get", notesColumns),
    create: mutation<Procedures["notes"]["create"]>("notes.create", notesColumns),
    update: mutation<Procedures["notes"]["update"]>("notes.update", notesColumns),
    remove: mutation<Procedures["notes"]["remove"]>("notes.remove", notesColumns),
  },
  site: {
    motto: query<Procedures["motto"]>("site.motto"),
  },
  workflows: {
    list: query<Workflows["list"]>("workflows.list"),
    get: query<Workflows["get"]>("workflows.get"),
    signal: mutation<Workflows["signal"]>("workflows.signal"),
    cancel: mutation<Workflows["cancel"]>("workflows.cancel"),
    retry: mutation<Workflows["retry"]>("workflows.retry"),
  },
} as const;

// Interfaces: the compiler names them in its messages. It would print other types with every table in them.
interface NotesOperations extends Readonly<(typeof operations)["notes"]> {}
interface SiteOperations extends Readonly<(typeof operations)["site"]> {}
interface WorkflowsOperations extends Readonly<(typeof operations)["workflows"]> {}
export interface Api {
  readonly notes: NotesOperations;
  readonly site: SiteOperations;
  readonly workflows: WorkflowsOperations;
}

export const api: Api = operations;
