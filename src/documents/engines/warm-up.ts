/** Loads what documents other than PDF and plain text need. Only in a spare process (`../engine-processes.ts`). */
import "./docx-source.ts";
import "./kordoc.ts";
import "./run.ts";
