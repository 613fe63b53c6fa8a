/**
 * Builds the page when `dist/` is missing or older than what it is made of, and the PDF that the page asks about when it
 * is missing. `npm start` runs this first, and on most days it ends in a few milliseconds.
 * Next hop: `vite.config.ts`, `set-handbook.ts`.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;
const made = join(here, "dist/index.html");
const sources = [
  "web",
  "sql/policies",
  "vite.config.ts",
  "../../client/sdk/src",
  "../../client/react/src",
  "../../package-lock.json",
];

const changed = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** When a file, or anything below a folder, was last changed; a folder changes when a file in it goes. */
function newest(path: string): number {
  if (!statSync(path).isDirectory()) return changed(path);
  return Math.max(changed(path), ...readdirSync(path).map((name) => newest(join(path, name))));
}

if (changed(join(here, ".svc/handbook.pdf")) === 0) await import("./set-handbook.ts");

if (changed(made) <= Math.max(...sources.map((source) => newest(join(here, source))))) {
  console.log("svc  building the page of examples/desk");
  // Loaded only now: Vite takes longer to load than this file to find that there is nothing to do.
  const { build } = await import("vite");
  await build({ root: join(here, "web"), configFile: join(here, "vite.config.ts"), logLevel: "warn" });
}
