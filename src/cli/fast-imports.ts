/**
 * Loads `drizzle-orm` in a fifth of the time and memory. To find the format of a module, Node parses the nearest
 * package.json. It repeats that for each of drizzle's 250 modules, with 180 kB of `exports`: 0.4 s and 200 MiB of
 * garbage. Drizzle's relative imports need no such lookup: they are all ES modules.
 * Source: https://nodejs.org/api/module.html#synchronous-hooks-accepted-by-moduleregisterhooks
 */
import { registerHooks } from "node:module";

const inside = /\/node_modules\/drizzle-orm\/.*\.js$/;

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context;
    if (!parentURL || !specifier.startsWith(".") || !inside.test(parentURL)) return next(specifier, context);
    return { url: new URL(specifier, parentURL).href, format: "module", shortCircuit: true };
  },
});
