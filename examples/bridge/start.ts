/** Starts both halves: the backend on port 4000, the frontend on port 3000. Ctrl-C stops them. */
import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";

const here = import.meta.dirname;
const { BACKEND_PORT = "4000", FRONTEND_PORT = "3000" } = process.env;
const env = {
  ...process.env,
  BACKEND_URL: `http://localhost:${BACKEND_PORT}`,
  FRONTEND_ORIGIN: `http://localhost:${FRONTEND_PORT}`,
  // Both made anew on each start; the password's change signs everybody out. Real halves keep them in their environment.
  SVC_BRIDGE_SECRET: process.env.SVC_BRIDGE_SECRET ?? randomBytes(32).toString("hex"),
  BRIDGE_PASSWORD: process.env.BRIDGE_PASSWORD ?? randomBytes(32).toString("hex"),
};

/** In groups of their own: Ctrl-C reaches them once, from here. A second signal would not let them finish. */
const detached = true;
const svc = join(here, "../../src/cli/svc.ts");
const backend = fork(svc, ["start", "--cwd", here], { env: { ...env, PORT: BACKEND_PORT }, detached });
const halves: ChildProcess[] = [];
let isEnding = false;

follow(backend);
backend.once("message", () => {
  const execArgv = ["--disable-warning=ExperimentalWarning"]; // node:module strips the types of the browser's scripts
  follow(fork(join(here, "frontend/server.ts"), { env, execArgv, detached }));
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, end);

/** When one half ends, so does the other. The exit code is that of a half that failed. */
function follow(half: ChildProcess): void {
  halves.push(half);
  half.once("exit", (code) => {
    process.exitCode ||= code ?? 0;
    end();
  });
  if (isEnding) half.kill();
}

function end(): void {
  if (isEnding) return;
  isEnding = true;
  for (const half of halves) half.kill();
}
