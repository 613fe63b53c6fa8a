// If this file fails, somebody who asks a command for --help is not told what it takes, or is told what is not so.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { allCommands, page, withHelp } from "../../scripts/cli-reference.ts";
import { svc } from "../../src/cli/commands.ts";
import { argumentsOf, helpOf, settle } from "../../src/cli/help.ts";
import { manual } from "../../src/cli/manual.ts";
import { checkArguments, findCommand } from "../../src/cli/usage.ts";
import { root } from "../support/global-setup.ts";

const commands = await allCommands();
const named = commands.map((one) => ({ ...one, name: one.path.join(" ") }));
const leaves = named.filter(({ isGroup }) => !isGroup);

test("there are commands, and the manual has pages for these alone", () => {
  expect(leaves.length).toBeGreaterThan(30);
  const known = named.map(({ path }) => path.slice(1).join(" "));
  expect(Object.keys(manual).filter((name) => !known.includes(name))).toEqual([]);
});

describe.each(named)("$name", ({ command, path, name, isGroup }) => {
  test("says what it does", async () => {
    const { description } = await settle<{ description: string }>(command.meta);
    expect(description).toMatch(/^[A-Z`].*\.$/);
  });

  test("describes everything that it takes, with what holds when it is left out", async () => {
    for (const [key, one] of Object.entries(await argumentsOf(command))) {
      const text = one.type === "boolean" && one.default === true ? one.negativeDescription : one.description;
      expect(text, key).toMatch(/^\S.*[.)]$/);
      const isOptional = one.type === "positional" ? one.required === false : one.type !== "boolean";
      if (isOptional && !one.required && one.default === undefined) expect(text, key).toMatch(/^Only |\(Default: /);
    }
  });

  test.skipIf(isGroup)("shows an example that can be typed, and where to read on", async () => {
    const { examples, page: file } = manual[path.slice(1).join(" ")] ?? { examples: [], page: "" };
    expect(examples.length).toBeGreaterThan(0);
    for (const [line] of examples) {
      const words = (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
      const typed = words.slice(1, words.includes(">") ? words.indexOf(">") : undefined);
      const found = await findCommand(svc, typed);
      expect(found.path.join(" ")).toBe(name);
      await checkArguments(found);
    }
    expect(existsSync(join(root, "docs", file)), file).toBe(true);
    const help = await helpOf(command, path);
    expect(help).toMatch(/^Exit codes:\n {2}0 {2}\w.*\n(.*\n)* {2}1 {2}\w/m);
    expect(help).toContain(`Read on: @svc/core/docs/${file}`);
  });
});

test("docs/reference/cli.md says the same: run `npm run docs:cli`", async () => {
  const text = readFileSync(page, "utf8");
  expect(text).toBe(await withHelp(text));
});

describe("what cannot be is refused, with what was probably meant", () => {
  const refusal = async (...words: string[]) => {
    try {
      const found = await findCommand(svc, words);
      await checkArguments(found);
    } catch (error) {
      return (error as Error).message;
    }
    return "nothing";
  };

  test.each([
    [["strat"], 'Did you mean "svc start"?'],
    [["db", "lnt"], 'Did you mean "svc db lint"?'],
    [["--cwd", "folder", "db", "lnt"], 'Did you mean "svc db lint"?'],
    [["db", "lint", "--jsn"], "Did you mean --json?"],
    [["start", "--no-with-worker", "--allow-drfit"], "Did you mean --allow-drift?"],
    [["init", "my-app", "--no-instal"], "Did you mean --no-install?"],
    [["jobs", "list", "--state"], "--state needs a value."],
    [["jobs", "list", "--state", "--limit", "3"], "--state needs a value."],
    [["jobs", "show"], "svc jobs show needs ID."],
    [["jobs", "show", "1", "2"], "svc jobs show takes one argument"],
  ])("%j", async (words, says) => {
    expect(await refusal(...words)).toContain(says);
  });

  test.each([
    [["jobs", "list", "--limit=3", "--cwd", "folder"]],
    [["--cwd", "folder", "migrate", "--again"]],
    [["migrate", "generate", "--drop", "a", "b", "--drop=c", "--rename", "d:e"]],
    [["search", "notes", "--", "--strange"]],
  ])("%j is accepted", async (words) => {
    expect(await refusal(...words)).toBe("nothing");
  });
});
