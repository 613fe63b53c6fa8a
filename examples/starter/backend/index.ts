/** What the application offers. */
import { defineApi } from "@svc/core";
import { clearDone, nightly, notesCrud, tidy } from "./notes.ts";

export default defineApi({ procedures: { notes: notesCrud, clearDone, tidy }, crons: { nightly } });
