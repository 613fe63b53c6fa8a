/**
 * `npm run docs:site`: builds docs/ as a site into `site/dist`. `-- --watch` serves it and follows changes. `-- --versions`
 * adds the site of each release beside it, from the tags `v*` of git: `site/dist/v0.1.0/`, and so on.
 * Its packages are installed into `site/node_modules` at the first run and when its lock changes.
 * Next hop: `site/.vitepress/config.ts`.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const site = join(root, "site");

/** @throws when the program fails */
function run(program: string, words: string[], cwd: string, env: NodeJS.ProcessEnv = {}): void {
  const { status } = spawnSync(program, words, { cwd, stdio: "inherit", env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`${program} ${words.join(" ")} failed in ${cwd}: its messages are above.`);
}

const git = (...words: string[]) => execFileSync("git", words, { cwd: root, encoding: "utf8" });

/** The site of a release, made by the release's own scripts and packages. It is made once and kept in `.svc/releases`. */
function siteOf(release: string): string {
  const made = join(root, ".svc/releases", release);
  if (existsSync(made)) return made;
  const tree = join(root, ".svc/releases/tree");
  git("worktree", "add", "--force", "--detach", tree, release);
  try {
    run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], tree);
    run(process.execPath, ["scripts/site.ts"], tree, { DOCS_RELEASE: release });
    cpSync(join(tree, "site/dist"), made, { recursive: true });
  } finally {
    git("worktree", "remove", "--force", tree);
  }
  return made;
}

const lock = readFileSync(join(site, "package-lock.json"), "utf8");
const stamp = join(site, "node_modules/.installed-lock");
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], site);
  writeFileSync(stamp, lock);
}
const releases = process.argv.includes("--versions")
  ? git("tag", "--list", "v*", "--sort=-version:refname").split("\n").filter(Boolean)
  : [];
const bin = (name: string) => join(site, "node_modules/.bin", name);
run(bin("typedoc"), ["--options", "typedoc.config.js", "--logLevel", "Warn"], site);
run(bin("vitepress"), [process.argv.includes("--watch") ? "dev" : "build"], site, {
  DOCS_RELEASES: releases.join(" "),
});
for (const release of releases) cpSync(siteOf(release), join(site, "dist", release), { recursive: true });
