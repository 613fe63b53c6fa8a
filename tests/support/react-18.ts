/** Loaded into the workers of the project react-18: gives every module, those of packages too, the older React. */
import { createRequire, registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const older = join(import.meta.dirname, "../react-18/package.json");
const fromOlder = pathToFileURL(older).href;
const { resolve } = createRequire(older);

registerHooks({
  resolve: (specifier, context, next) =>
    /^react(-dom)?(\/|$)/.test(specifier) && context.parentURL !== fromOlder
      ? { url: pathToFileURL(resolve(specifier)).href, shortCircuit: true }
      : next(specifier, context),
});
