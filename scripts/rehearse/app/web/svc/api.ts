// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.
import { type FiltersOf, mutation, query, type RowIn, resourceQuery } from "@svc/client";
import type backend from "../../backend/index.ts";

type Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;
type Workflows = NonNullable<(typeof backend)["~svc"]["workflowTypes"]>;

const marksColumns = {
  createdAt: "date",
} as const;

interface MarksResource {
  row: RowIn<Procedures["marks"]["list"]>;
  filters: FiltersOf<Procedures["marks"]["list"]>;
  relations: Record<never, never>;
}

const operations = {
  marks: {
    list: resourceQuery<Procedures["marks"]["list"], MarksResource>("marks.list", marksColumns),
    get: resourceQuery<Procedures["marks"]["get"], MarksResource>("marks.get", marksColumns),
    create: mutation<Procedures["marks"]["create"]>("marks.create", marksColumns),
    update: mutation<Procedures["marks"]["update"]>("marks.update", marksColumns),
    remove: mutation<Procedures["marks"]["remove"]>("marks.remove", marksColumns),
    add: mutation<Procedures["add"]>("marks.add"),
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
interface MarksOperations extends Readonly<(typeof operations)["marks"]> {}
interface WorkflowsOperations extends Readonly<(typeof operations)["workflows"]> {}
export interface Api {
  readonly marks: MarksOperations;
  readonly workflows: WorkflowsOperations;
}

export const api: Api = operations;
