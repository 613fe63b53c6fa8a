/** What the backend offers: private notes, and a line for everybody. */
import { defineApi } from "@svc/core";
import { z } from "zod";
import { createCrud, procedure } from "./runtime.ts";
import { notes } from "./schema.ts";

const notesCrud = createCrud(notes);

/** Public: a page that is the same for everybody may show it. */
const motto = procedure.query
  .name("site.motto")
  .allowAnonymous()
  .output(z.object({ text: z.string() }))
  .handler(() => ({ text: "Two origins, one session, no token to steal." }));

export default defineApi({ procedures: { notes: notesCrud, motto } });
