import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    typecheck: { enabled: true, include: ["tests/types/**/*.test-d.ts"], tsconfig: "./tsconfig.json" },
    globalSetup: ["tests/support/global-setup.ts"],
    // Two cores are shared with PostgreSQL: more workers only queue there.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // .ci/run adds up the counts.
    reporters: process.env.CI ? ["default", ["json", { outputFile: ".svc/test-results.json" }]] : ["default"],
  },
});
