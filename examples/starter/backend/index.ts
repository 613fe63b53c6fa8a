/** What the application offers. */
import { defineApi } from "@svc/core";
import { clearDone, notesCrud } from "./notes.ts";

export default defineApi({ procedures: { notes: notesCrud, clearDone } });
