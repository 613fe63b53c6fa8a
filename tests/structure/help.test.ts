// If this file fails, a command's --help omits an option, or says something untrue.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { allCommands, page, withHelp } from "../../scripts/cli-reference.ts";
import { svc } from "../../src/cli/commands.ts";
import { examples, exitCodes, pageOf } from "../../src/cli/manual.ts";
import { helpOf, makeCommand } from "../../src/cli/parser.ts";
import { root } from "../support/global-setup.ts";

const commands = allCommands();
const named = commands.map((one) => ({ ...one, name: one.path.join(" ") }));
const leaves = named.filter(({ isGroup }) => !isGroup);

test("there are commands, and the manual has pages for these alone", () => {
  expect(leaves.length).toBeGreaterThan(30);
  const known = named.map(({ path }) => path.slice(1).join(" "));
  expect(Object.keys({ ...examples, ...exitCodes }).filter((name) => !known.includes(name))).toEqual([]);
});

/** Parses a command line without running it: the command's name and arguments, or the refused part. */
async function parse(words: readonly string[]): Promise<{ command: string; refused: string }> {
  const program = await makeCommand(svc);
  const parsed = { command: "", refused: "" };
  for (const { command, path, isGroup } of allCommands(program)) {
    command.configureOutput({
      writeErr: (text) => {
        parsed.refused += text;
      },
    });
    if (!isGroup) {
      command.action(() => {
        parsed.command = path.join(" ");
      });
    }
  }
  await program.parseAsync(words, { from: "user" }).catch(() => {});
  return parsed;
}

describe.each(named)("$name", ({ command, path, name, isGroup }) => {
  test("says what it does", () => {
    expect(command.description()).toMatch(/^[A-Z`].*\.$/);
  });

  test("describes everything that it takes, with what holds when it is left out", () => {
    for (const { long, description, hidden, required } of command.options) {
      if (hidden) continue;
      expect(description, long).toMatch(/^\S.*[.)]$/);
      if (required) expect(description, long).toMatch(/^Only |\(Default: /);
    }
    for (const one of command.registeredArguments) {
      expect(one.description, one.name()).toMatch(/^\S.*[.)]$/);
      if (!one.required) expect(one.description, one.name()).toMatch(/^Only |\(Default: /);
    }
  });

  test.skipIf(isGroup)("shows an example that can be typed, and where to read on", async () => {
    const words = path.slice(1).join(" ");
    const file = pageOf(words);
    const shown = examples[words] ?? [];
    expect(shown.length).toBeGreaterThan(0);
    for (const [line] of shown) {
      const parts = (line.match(/"[^"]*"|\S+/g) ?? []).map((part) => part.replaceAll('"', ""));
      const typed = parts.slice(1, parts.includes(">") ? parts.indexOf(">") : undefined);
      expect(await parse(typed)).toEqual({ command: name, refused: "" });
    }
    expect(existsSync(join(root, "docs", file)), file).toBe(true);
    const help = helpOf(command);
    expect(help).toMatch(/^Exit codes:\n {2}0 {2}\w.*\n(.*\n)* {2}1 {2}\w/m);
    expect(help).toContain(`Read on: @svc/core/docs/${file}`);
  });
});

test("docs/reference/cli.md says the same: run `npm run docs:cli`", () => {
  const text = readFileSync(page, "utf8");
  expect(text).toBe(withHelp(text));
});

test("svc lists every command below a heading, and a group without a command prints its help", async () => {
  const help = helpOf(await makeCommand(svc));
  expect(help).toMatch(/^Development:\n {2}init .*\n {2}dev /m);
  expect(help).not.toContain("Commands:");
  const { refused } = await parse(["db"]);
  expect(refused).toContain("Usage: svc db");
  expect(refused).toMatch(/^ {2}lint /m);
});

describe("what is not known is refused, with what was probably meant", () => {
  test.each([
    [["strat"], "svc: unknown command 'strat'\n(Did you mean start?)\nSee svc --help."],
    [["db", "lnt"], "svc db: unknown command 'lnt'\n(Did you mean lint?)\nSee svc db --help."],
    [["--cwd", "folder", "db", "lnt"], "(Did you mean lint?)"],
    [["migrate", "staus"], "svc migrate: unknown command 'staus'\n(Did you mean status?)"],
    [["db", "lint", "--jsn"], "svc db lint: unknown option '--jsn'\n(Did you mean --json?)\nSee svc db lint --help."],
    [["start", "--no-with-worker", "--allow-drfit"], "(Did you mean --allow-drift?)"],
    [["init", "my-app", "--no-instal"], "(Did you mean --no-install?)"],
    [["jobs", "list", "--state"], "argument missing"],
    [["jobs", "list", "--state", "--limit", "3"], "--state needs a value."],
    [["keys", "list", "--user="], "--user needs a value."],
    [["keys", "list", "--user", ""], "--user needs a value."],
    [["--cwd", "", "keys", "list"], "--cwd needs a value."],
    [["keys", "list", "--cwd="], "--cwd needs a value."],
    [["migrate", "generate", "--drop", "a", ""], "--drop needs a value."],
    [["crons", "pause", ""], "name needs a value."],
    [["jobs", "show"], "svc jobs show: missing required argument 'id'"],
    [["jobs", "show", "1", "2"], "Expected 1 argument but got 2"],
  ])("%j", async (words, says) => {
    const { command, refused } = await parse(words);
    expect(command).toBe("");
    expect(refused).toContain(says);
  });

  test("a folder for a command that has none", async () => {
    const program = await makeCommand(svc);
    for (const { command } of allCommands(program)) command.configureOutput({ writeErr: () => {} });
    await expect(program.parseAsync(["--cwd", "folder", "logs"], { from: "user" })).rejects.toThrow("'--cwd'");
  });

  test.each([
    [["jobs", "list", "--limit=3", "--cwd", "folder"], "svc jobs list"],
    [["--cwd", "folder", "migrate", "--again"], "svc migrate apply"],
    [["migrate", "--cwd", "folder", "status"], "svc migrate status"],
    [["migrate", "generate", "--drop", "a", "b", "--drop=c", "--rename", "d:e"], "svc migrate generate"],
    [["search", "notes", "--", "--strange"], "svc search"],
    [["rls", "explain", "notes", "--as", "ann", "--scopes", ""], "svc rls explain"],
    [["db", "psql", "--", "-x", "--csv"], "svc db psql"],
  ])("%j is accepted", async (words, command) => {
    expect(await parse(words)).toEqual({ command, refused: "" });
  });
});
