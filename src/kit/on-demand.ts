/**
 * Packages that a start can do without. Outside production they are loaded at their first use, which takes some
 * milliseconds; in production before the service is ready.
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const all: (() => unknown)[] = [];

/** @returns loads the package at the first call, and returns its exports. `Exports` is their type */
export function onDemand<Exports>(name: string): () => Exports {
  let exports: Exports | undefined;
  const load = () => {
    exports ??= require(name) as Exports;
    return exports;
  };
  all.push(load);
  return load;
}

export const loadAll = (): void => {
  for (const load of all) load();
};
