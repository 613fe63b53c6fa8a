// If this file fails, a command cannot print JSON, or is silent while it works.
import { expect, test, vi } from "vitest";
import { allCommands } from "../../scripts/cli-reference.ts";
import { counter, during } from "../../src/cli/output.ts";

// What they print is tested in json.test.ts.
test("every command has --json", () => {
  const leaves = allCommands().filter(({ isGroup }) => !isGroup);
  expect(leaves.length).toBeGreaterThan(40);
  for (const { command, path } of leaves) {
    expect(
      command.options.map(({ long }) => long),
      path.join(" "),
    ).toContain("--json");
  }
});

test("what takes longer than a second is said, once a second at most", async () => {
  vi.useFakeTimers();
  const said: string[] = [];
  const error = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  try {
    await during("Quick", async () => vi.advanceTimersByTime(900));
    await during("Slow", async () => vi.advanceTimersByTime(1_100));
    const count = counter();
    for (let files = 1; files <= 25; files++) {
      vi.advanceTimersByTime(100);
      count(() => `${files} files`);
    }
    await expect(during("Broken", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    vi.advanceTimersByTime(2_000);
  } finally {
    error.mockRestore();
    vi.useRealTimers();
  }
  expect(said).toEqual(["Slow …\n", "10 files\n", "20 files\n"]);
});
