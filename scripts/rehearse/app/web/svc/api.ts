// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.
import { mutation, query } from "@svc/client";
import type backend from "../../backend/index.ts";

type Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;
type Workflows = NonNullable<(typeof backend)["~svc"]["workflowTypes"]>;

const marksColumns = {
  createdAt: "date",
} as const;

export const api = {
  marks: {
    list: query<Procedures["marks"]["list"]>("marks.list", marksColumns),
    get: query<Procedures["marks"]["get"]>("marks.get", marksColumns),
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
