/** Starts `svc` on a supported Node version. Next hop: `dispatch.ts`. */
import "./fast-imports.ts";
import { dispatch } from "./dispatch.ts";

await dispatch(process.argv.slice(2));
