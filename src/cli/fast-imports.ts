/**
 * Makes the start of every command faster.
 *
 * - Compiled code is kept on disk beside the installed packages. NODE_COMPILE_CACHE names another folder; where none can
 *   be written, nothing is kept. https://nodejs.org/api/module.html#module-compile-cache
 * - To find the format of a module, Node reads the nearest package.json for each of the thousand modules of some
 *   packages. Their relative imports need no such lookup: they are all ES modules.
 *   https://nodejs.org/api/module.html#synchronous-hooks-accepted-by-moduleregisterhooks
 * - For each import of a package, Node parses the `exports` of its package.json again, which is large in drizzle-orm.
 *   Files of one folder find the same packages.
 */
import { enableCompileCache, type ResolveFnOutput, registerHooks } from "node:module";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const [installed] = /^.*[\\/]node_modules(?=[\\/])/.exec(root) ?? [join(root, "node_modules")];
enableCompileCache(process.env.NODE_COMPILE_CACHE ?? join(installed, ".cache/svc"));

const inside =
  /\/node_modules\/(?:drizzle-orm|zod|better-auth|@better-auth\/core|jose|kysely\/dist\/esm)\/(?!.*\/node_modules\/).*\.m?js$/;

/** What files outside of packages import, by folder, name and conditions. */
const packages = new Map<string, ResolveFnOutput>();
const isPackage = /^[\w@][^:]*$/;

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL, conditions } = context;
    if (!parentURL) return next(specifier, context);
    if (isPackage.test(specifier) && !parentURL.includes("/node_modules/")) {
      const key = [parentURL.slice(0, parentURL.lastIndexOf("/")), specifier, ...conditions].join(" ");
      const found = packages.get(key) ?? next(specifier, context);
      packages.set(key, found);
      return { ...found, shortCircuit: true };
    }
    const isModule = /^\..*\.m?js$/.test(specifier) && inside.test(parentURL);
    if (!isModule || conditions.includes("require")) return next(specifier, context);
    return { url: new URL(specifier, parentURL).href, format: "module", shortCircuit: true };
  },
});
