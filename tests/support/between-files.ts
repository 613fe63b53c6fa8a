/** Loaded before each test file: those that share a worker find its environment, clock and globals as the first one did. */
import { afterAll, vi } from "vitest";

const env = { ...process.env };

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
