/** Reads the imports between files of the repository from their text, for the tests of this folder. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { root } from "../support/global-setup.ts";

export interface Import {
  from: string;
  to: string;
  /** `import type`, which loads nothing. */
  isType: boolean;
  /** `import(…)`, which loads on demand. */
  isLazy: boolean;
}

/** Every TypeScript file below a folder, by its path from the root of the repository. */
export const sourcesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/node_modules|\/dist/.test(entry.parentPath))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));

/** Imports and re-exports of files by relative paths. */
export function importsOf(files: readonly string[]): Import[] {
  const statement = /^(?:import|export)\s+(type\s)?(?:[^"';]*?\sfrom\s+)?"(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gm;
  return files.flatMap((from) =>
    [...readFileSync(join(root, from), "utf8").matchAll(statement)].map(([, isType, path, lazy]) => ({
      from,
      to: normalize(join(dirname(from), (path ?? lazy) as string)),
      isType: isType !== undefined,
      isLazy: lazy !== undefined,
    })),
  );
}

/** Groups of nodes that all reach each other. */
export function circles(edges: Iterable<readonly [string, string]>): string[][] {
  const next = new Map<string, string[]>();
  for (const [from, to] of edges) next.set(from, [...(next.get(from) ?? []), to]);
  const reached = (start: string): Set<string> => {
    const found = new Set<string>();
    const open = [start];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      for (const to of next.get(node) ?? []) {
        if (found.has(to)) continue;
        found.add(to);
        open.push(to);
      }
    }
    return found;
  };
  const reach = new Map([...next.keys()].map((node) => [node, reached(node)]));
  const seen = new Set<string>();
  return [...reach].flatMap(([node, targets]) => {
    if (seen.has(node) || !targets.has(node)) return [];
    const circle = [...targets].filter((other) => reach.get(other)?.has(node));
    for (const one of circle) seen.add(one);
    return [circle.sort()];
  });
}

export const exists = (path: string) => existsSync(join(root, path));
