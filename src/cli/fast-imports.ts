/**
 * Makes `drizzle-orm` load in a fifth of the time and memory. Node looks up the format of every module in the nearest
 * package.json and parses that file's 180 kB of `exports` again for each of drizzle's 250 modules: 0.4 s and 200 MiB of
 * garbage. Its relative imports need no lookup: they are ES modules beside each other.
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
