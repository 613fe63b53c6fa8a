/**
 * Makes the start of every command faster.
 *
 * - Compiled code is kept on disk beside the installed packages. NODE_COMPILE_CACHE names another folder; where none can
 *   be written, nothing is kept. https://nodejs.org/api/module.html#module-compile-cache
 * - For each module, Node looks for the file and reads the nearest package.json to find the format. Relative imports of
 *   svc's own files, and of packages with a thousand modules, need neither: they are all ES modules.
 *   https://nodejs.org/api/module.html#synchronous-hooks-accepted-by-moduleregisterhooks
 * - For each import of a package, Node parses the `exports` of its package.json again, which is large in drizzle-orm. All
 *   files of svc, of one of these packages, or of one folder of the application find the same packages.
 */
import { enableCompileCache, type ResolveFnOutput, registerHooks } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const root = resolve(import.meta.dirname, "../..");
const [installed] = /^.*[\\/]node_modules(?=[\\/])/.exec(root) ?? [join(root, "node_modules")];
enableCompileCache(process.env.NODE_COMPILE_CACHE ?? join(installed, ".cache/svc"));

const own = `${pathToFileURL(root).href}/`;
/** The engines are a package of their own. */
const isOwn = (url: string) =>
  url.startsWith(own) && /^(?:src|workers)\/(?!documents\/engines\/|.*\/node_modules\/)/.test(url.slice(own.length));
const large =
  /^.*\/node_modules\/(?:drizzle-orm|zod|better-auth|@better-auth\/core|jose|kysely\/dist\/esm)\/(?!.*\/node_modules\/)(?=.*\.m?js$)/;
const isPackage = /^[\w@][^:]*$/;
const isRelative = /^\..*\.m?[jt]s$/;

/** What packages resolve to: by the importing package or folder, name and conditions. */
const packages = new Map<string, ResolveFnOutput>();

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL, conditions } = context;
    if (!parentURL) return next(specifier, context);
    const importer = isOwn(parentURL) ? own : large.exec(parentURL)?.[0];
    if (isPackage.test(specifier)) {
      if (!importer && parentURL.includes("/node_modules/")) return next(specifier, context);
      const place = importer ?? parentURL.slice(0, parentURL.lastIndexOf("/"));
      const key = [place, specifier, ...conditions].join(" ");
      const found = packages.get(key) ?? next(specifier, context);
      packages.set(key, found);
      return { ...found, shortCircuit: true };
    }
    if (!importer || !isRelative.test(specifier) || conditions.includes("require")) return next(specifier, context);
    const format = specifier.endsWith("ts") ? "module-typescript" : "module";
    return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
  },
});
