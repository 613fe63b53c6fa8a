/** Starts `svc` on a supported Node version. Next hop: `dispatch.ts`, imported after what makes imports fast. */
import "./fast-imports.ts";

const { dispatch } = await import("./dispatch.ts");
const { endSoon } = await import("./signal.ts");
const { SVC_SPARE: isSpare } = process.env;
delete process.env.SVC_SPARE; // not for what this process starts
if (isSpare) (await import("./spare.ts")).waitForWork(dispatch);
else {
  await dispatch(process.argv.slice(2));
  endSoon();
}
