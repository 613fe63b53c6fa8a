// If this file fails, Tab completes nothing, or a command that does not exist.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runHere } from "../support/cli.ts";

const run = promisify(execFile);
const has = (shell: string) =>
  run(shell, ["--version"]).then(
    () => true,
    () => false,
  );
const [hasZsh, hasFish] = await Promise.all([has("zsh"), has("fish")]);
let folder: string;
const script = (shell: string) => join(folder, shell);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-completion-"));
  for (const shell of ["bash", "zsh", "fish"]) {
    await writeFile(script(shell), (await runHere(["completion", shell], {})).out);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What bash offers for the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const [at, all] = [words.length, words.map((word) => `'${word}'`).join(" ")];
  const ask = `. ${script("bash")}; COMP_WORDS=(svc ${all}); COMP_CWORD=${at}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run("bash", ["--norc", "-c", ask]);
  return stdout.split("\n").filter(Boolean);
}

test("bash completes commands, subcommands and options, and goes no further than they do", async () => {
  expect(await offered("mig")).toEqual(["migrate"]);
  expect(await offered("migrate", "ge")).toEqual(["generate"]);
  expect(await offered("db", "")).toEqual(expect.arrayContaining(["lint", "explain", "psql"]));
  expect(await offered("start", "--proc")).toEqual(["--processes"]);
  expect(await offered("--cwd", "x", "jobs", "li")).toEqual(["list"]);
  expect(await offered("nonsense")).toEqual([]);
});

test.skipIf(!hasZsh)("zsh reads its script (skipped where zsh is not installed)", async () => {
  await run("zsh", ["-f", "-c", `. ${script("zsh")} && (( $+functions[_svc] ))`]);
});

test.skipIf(!hasFish)("fish completes as bash does (skipped where fish is not installed)", async () => {
  const { stdout } = await run("fish", ["--no-config", "-c", `source ${script("fish")}; complete -C 'svc migrate ge'`]);
  expect(stdout).toMatch(/^generate\t/);
});
