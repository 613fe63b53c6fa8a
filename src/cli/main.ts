/** `svc`, on a Node that is new enough. Next hop: `dispatch.ts`. */
import "./fast-imports.ts";
import { dispatch } from "./dispatch.ts";

await dispatch(process.argv.slice(2));
