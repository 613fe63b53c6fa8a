/** The backend whose api.ts is beside it. */
import { defineApi } from "../../../src/index.ts";
import { count, last, lastRun } from "./handlers.ts";

export default defineApi({ procedures: { count, last, lastRun } });
