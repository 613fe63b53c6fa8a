import { join } from "node:path";
import { defineConfig, type TestProjectConfiguration } from "vitest/config";
import { long } from "./tests/long.ts";
import { LongestFirst } from "./tests/support/sequencer.ts";

// Generous, for a busy machine: they only end tests that hang. A test states its own limit where it needs more.
const limits = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 90_000, interval: 20 } },
  // CI's machine stalls now and then, and nobody is there to look again. The report names what took a second try.
  retry: process.env.CI ? 1 : 0,
};
/** `svc` imports the first one itself; here it makes each worker, and each process that a test starts, load as fast. */
const imported = (...names: string[]) => ({
  execArgv: ["src/cli/fast-imports.ts", "tests/support/warnings.ts", ...names].flatMap((name) => [
    "--import",
    join(import.meta.dirname, name),
  ]),
});
/**
 * Node runs TypeScript by itself. The files of a worker share its process and modules: loading them for each file took
 * as long as half of the tests.
 */
const shared = { isolate: false, experimental: { viteModuleRunner: false, nodeLoader: false } };
const bindings = [
  "tests/client/react.test.ts",
  "tests/client/use-infinite-query.test.ts",
  "tests/client/use-upload.test.ts",
  "tests/client/use-workflow.test.ts",
  "tests/client/optimistic.test.ts",
  "tests/client/abandoned-queries.test.ts",
];
/** They need a document before React is loaded. */
const pages = [...bindings, "tests/docs/readme.test.ts", "tests/docs/infinite-lists.test.ts"];
/** One that counts which functions run; and one of pdf.js, which refuses to run where drizzle-kit has extended arrays. */
const alone = ["tests/documents/pdf-layout.test.ts", "tests/structure/request.test.ts"];
const isNamed = process.argv.some((word) => /(^|\/)tests\//.test(word));
const isWhole = isNamed || process.env.TESTS === "all";
const later = isWhole ? [] : long;
/** The same tests of the bindings once more, on the older React that they promise to work with. */
const olderReact: TestProjectConfiguration = {
  test: {
    name: "react-18",
    include: bindings,
    environment: "jsdom",
    ...shared,
    ...imported("tests/support/react-18.ts"),
    ...limits,
  },
};

export default defineConfig({
  test: {
    globalSetup: ["tests/support/global-setup.ts"],
    // On two cores: much of the time is spent waiting for processes, PostgreSQL and delays. Three took a fifth longer.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // .ci/run adds up the counts.
    reporters: process.env.CI
      ? ["default", ["json", { outputFile: process.env.TEST_RESULTS ?? ".svc/tests.json" }]]
      : ["default"],
    projects: [
      {
        test: {
          name: "svc",
          include: ["tests/**/*.test.ts"],
          exclude: ["**/node_modules/**", ...pages, ...alone, ...later],
          ...shared,
          ...imported(),
          typecheck: {
            // .ci/run has checked the types of all files by then, these among them.
            enabled: !process.env.CI,
            include: ["tests/types/**/*.test-d.ts"],
            tsconfig: "./tests/types/tsconfig.json",
          },
          ...limits,
        },
      },
      { test: { name: "pages", include: pages, environment: "jsdom", ...shared, ...imported(), ...limits } },
      ...(isWhole ? [olderReact] : []),
      { test: { name: "alone", include: alone, ...shared, isolate: true, ...imported(), ...limits } },
    ],
  },
});
