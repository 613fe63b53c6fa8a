/** The builders, made once and typed by the schema. */
import { createSvc } from "@svc/core";
import * as schema from "./schema.ts";

export const { procedure, httpRoute, workflow, createCrud } = createSvc({ schema });
