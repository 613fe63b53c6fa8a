import { createCrudFactory, createSvcProcedureBuilders, defineApi, v } from "@svc/core";
import * as schema from "./schema.ts";

const procedure = createSvcProcedureBuilders<typeof schema>();

const echo = procedure.query
  .name("echo")
  .input(v.object({ text: v.string() }))
  .handler(({ input }) => input.text);

export default defineApi({ procedures: { items: createCrudFactory(procedure)(schema.items), echo } });
