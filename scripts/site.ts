/**
 * `npm run docs:site`: builds docs/ as a site into `site/dist`. `npm run docs:site -- --watch` serves it and follows changes.
 * Its packages are installed into `site/node_modules` at the first run and when its lock changes.
 * Next hop: `site/.vitepress/config.ts`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const site = join(import.meta.dirname, "../site");

/** @throws when the program fails */
function run(program: string, ...words: string[]): void {
  const { status } = spawnSync(program, words, { cwd: site, stdio: "inherit" });
  if (status !== 0) throw new Error(`${program} ${words.join(" ")} failed in site/: its messages are above.`);
}

const lock = readFileSync(join(site, "package-lock.json"), "utf8");
const stamp = join(site, "node_modules/.installed-lock");
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
  run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund");
  writeFileSync(stamp, lock);
}
const bin = (name: string) => join(site, "node_modules/.bin", name);
run(bin("typedoc"), "--options", "typedoc.config.js", "--logLevel", "Warn");
run(bin("vitepress"), process.argv.includes("--watch") ? "dev" : "build");
