/**
 * Makes the start of every command faster.
 *
 * - Compiled code is kept on disk beside the installed packages. NODE_COMPILE_CACHE names another folder; where none can
 *   be written, nothing is kept. https://nodejs.org/api/module.html#module-compile-cache
 * - To find the format of a module, Node reads the nearest package.json for each of the thousand modules of some
 *   packages. Their relative imports need no such lookup: they are all ES modules.
 *   https://nodejs.org/api/module.html#synchronous-hooks-accepted-by-moduleregisterhooks
 */
import { enableCompileCache, registerHooks } from "node:module";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const [installed] = /^.*[\\/]node_modules(?=[\\/])/.exec(root) ?? [join(root, "node_modules")];
enableCompileCache(process.env.NODE_COMPILE_CACHE ?? join(installed, ".cache/svc"));

const inside =
  /\/node_modules\/(?:drizzle-orm|zod|better-auth|@better-auth\/core|jose|kysely\/dist\/esm)\/(?!.*\/node_modules\/).*\.m?js$/;

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context;
    const isModule = parentURL && /^\..*\.m?js$/.test(specifier) && inside.test(parentURL);
    if (!isModule || context.conditions.includes("require")) return next(specifier, context);
    return { url: new URL(specifier, parentURL).href, format: "module", shortCircuit: true };
  },
});
