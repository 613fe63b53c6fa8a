/** Starts `svc` on a supported Node version. Next hop: `dispatch.ts`, imported after what makes imports fast. */
import "./fast-imports.ts";

const { dispatch } = await import("./dispatch.ts");
await dispatch(process.argv.slice(2));
