import { join } from "node:path";
import { defineConfig } from "vitest/config";
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
const installed = (path: string) => join(import.meta.dirname, path);
const shared = { execArgv: ["--import", installed("tests/support/warnings.ts")] };
const bindings = [
  "tests/client/react.test.ts",
  "tests/client/use-infinite-query.test.ts",
  "tests/client/use-upload.test.ts",
  "tests/client/use-workflow.test.ts",
];
const isNamed = process.argv.some((word) => /(^|\/)tests\//.test(word));
const later = isNamed || process.env.TESTS === "all" ? [] : long;
/**
 * With a document, which comes before React is loaded; one that counts which functions run; and one of pdf.js, which
 * refuses to run where drizzle-kit has extended arrays.
 */
const alone = [
  ...bindings,
  "tests/docs/readme.test.ts",
  "tests/documents/pdf-layout.test.ts",
  "tests/docs/infinite-lists.test.ts",
  "tests/structure/request.test.ts",
];

export default defineConfig({
  test: {
    globalSetup: ["tests/support/global-setup.ts"],
    // On two cores. A third of the time is spent waiting for processes, PostgreSQL and delays.
    maxWorkers: 3,
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
          exclude: ["**/node_modules/**", ...alone, ...later],
          // Node runs TypeScript by itself. The files of a worker share its process and modules: loading them for each
          // file took as long as half of the tests.
          isolate: false,
          experimental: { viteModuleRunner: false, nodeLoader: false },
          ...shared,
          typecheck: {
            // .ci/run has checked the types of all files by then, these among them.
            enabled: !process.env.CI,
            include: ["tests/types/**/*.test-d.ts"],
            tsconfig: "./tests/types/tsconfig.json",
          },
          ...limits,
        },
      },
      {
        test: { name: "alone", include: alone, ...shared, ...limits },
      },
      {
        // The same tests of the bindings once more, on the older React that they promise to work with.
        resolve: {
          alias: {
            react: installed("tests/react-18/node_modules/react"),
            "react-dom": installed("tests/react-18/node_modules/react-dom"),
            // The CommonJS form would require React past these lines.
            "@testing-library/react": installed(
              "node_modules/@testing-library/react/dist/@testing-library/react.esm.js",
            ),
          },
        },
        test: {
          name: "react-18",
          include: bindings,
          server: { deps: { inline: [/@tanstack\/react-query/, /@testing-library\/react/] } },
          ...shared,
          ...limits,
        },
      },
    ],
  },
});
