/**
 * The processes of `svc dev`: a spare one, which prepares the next version, and the one that serves.
 * Next hop: `spare.ts` is the other end.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Observed } from "../telemetry/observations.ts";
import { developing, say } from "./command.ts";

/** Keeps one process ready that has loaded the platform's modules. */
export class Spare {
  readonly #environment: NodeJS.ProcessEnv;
  #ready: ChildProcess | undefined;

  constructor(environment: NodeJS.ProcessEnv) {
    // The IPC channel and this variable tell a command that `svc dev` started it.
    this.#environment = { ...environment, [developing]: "1", SVC_SPARE: "1" };
  }

  /** A process that waits for its first command. */
  take(): ChildProcess {
    const child = this.#ready && isRunning(this.#ready) ? this.#ready : this.#spawn();
    this.#ready = undefined;
    return child;
  }

  /** Starts the next one. Call it when nothing else needs the processors. */
  keep(): void {
    this.#ready ??= this.#spawn();
  }

  end(): void {
    this.#ready?.kill();
  }

  #spawn(): ChildProcess {
    // By default V8's young generation grows while modules load, and is copied each time: a sixth of a start.
    return spawn(process.execPath, ["--max-semi-space-size=8", ...process.argv.slice(1, 2)], {
      stdio: ["inherit", "inherit", "inherit", "ipc"],
      env: this.#environment,
    });
  }
}

interface Prepared {
  /** The process to serve with. It has loaded the application, unless the run changed a generated file. */
  next(): ChildProcess;
  /** Serve with none. */
  end(): void;
}

/**
 * Prepares in the spare process.
 *
 * @param words of the command
 * @returns undefined when it failed; the reason is printed
 */
export async function prepare(spare: Spare, words: readonly string[]): Promise<Prepared | undefined> {
  const child = spare.take();
  const result = new Promise((resolve) => child.once("message", resolve));
  send(child, words);
  const answer = await Promise.race([result, exited(child)]);
  if (answer !== "prepared" && answer !== "outdated") return undefined;
  // Without its channel, the process waits for no further command.
  const end = () => child.disconnect();
  if (answer === "prepared") return { next: () => child, end };
  end();
  return { next: () => spare.take(), end: () => {} };
}

/** A process that has ended meanwhile is noticed by its exit. */
const send = (child: ChildProcess, message: readonly string[] | "go") => void child.send(message, () => {});

/** @returns whether the process says this before it ends */
function heard(child: ChildProcess, word: "waiting" | "ready" | "left"): Promise<boolean> {
  const said = new Promise<true>((resolve) => {
    child.on("message", (message) => {
      if (message === word) resolve(true);
    });
  });
  return Promise.race([said, exited(child).then(() => false)]);
}

/** Delays before each restart after a crash, in milliseconds. After the last one, only a saved file restarts the service. */
const pauses = [200, 1_000, 3_000, 10_000, 30_000];
/** In milliseconds: after serving this long, the next crash counts as the first again. */
const well = 60_000;

interface ServerEvents {
  /** It is time to restart after a crash. */
  due(): void;
  /** The service did something that Studio shows. */
  observed(observed: Observed): void;
}

export class DevServer {
  readonly #spare: Spare;
  readonly #words: readonly string[];
  readonly #events: ServerEvents;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #crashes = 0;
  #pause: NodeJS.Timeout | undefined;

  /** @param words of the command that serves */
  constructor(spare: Spare, words: readonly string[], events: ServerEvents) {
    this.#spare = spare;
    this.#words = words;
    this.#events = events;
  }

  /** Whether a version of the application is running. */
  get serves(): boolean {
    return this.#child !== undefined && isRunning(this.#child);
  }

  /**
   * Serves with the next process, which starts while the current one still serves. If it does not start, the current
   * one keeps serving. Resolves when it serves or has failed.
   */
  async replace(next: ChildProcess): Promise<void> {
    if (!(await this.#starts(next))) return;
    const current = this.#child;
    void this.stop();
    if (current) await heard(current, "left");
    this.#crashes = 0;
    await this.#serve(next);
  }

  /** Restarts after a crash, unless that has happened meanwhile. */
  async revive(): Promise<void> {
    if (!this.#child || this.serves) return;
    const next = this.#spare.take();
    if (await this.#starts(next)) await this.#serve(next);
  }

  /** Stops what serves. Resolves when all that have served have ended. */
  async stop(): Promise<void> {
    clearTimeout(this.#pause);
    const child = this.#child;
    this.#child = undefined; // its exit is expected now
    child?.kill("SIGTERM");
    if (child) this.#ended = Promise.all([this.#ended, exited(child)]);
    await this.#ended;
  }

  /** @returns whether it is ready but for the port, which the process before it may hold; otherwise the reason is said */
  async #starts(child: ChildProcess): Promise<boolean> {
    const waits = heard(child, "waiting");
    send(child, this.#words);
    if (await waits) return true;
    const meanwhile = this.serves ? " Until then the last good version serves." : "";
    say(`The service did not start: ${endOf(child)}. Fix it and save a file to start it again.${meanwhile}`);
    return false;
  }

  /** @param child waits for the port */
  async #serve(child: ChildProcess): Promise<void> {
    this.#child = child;
    let since: number | undefined;
    child.on("message", (message: string | Observed) => {
      if (typeof message === "object") this.#events.observed(message);
    });
    void exited(child).then(() => {
      if (this.#child === child) this.#crashed(child, since);
    });
    const ready = heard(child, "ready");
    send(child, "go");
    if (await ready) since = performance.now();
  }

  /** @param since when it began to serve; without it, a restart would fail again */
  #crashed(child: ChildProcess, since: number | undefined): void {
    const why = endOf(child);
    if (since !== undefined && performance.now() - since > well) this.#crashes = 0;
    const pause = since === undefined ? undefined : pauses[this.#crashes++];
    if (pause === undefined) {
      const what = since === undefined ? "did not start" : "has crashed again";
      say(`The service ${what}: ${why}. Fix it and save a file to start it again.`);
      return;
    }
    say(`The service has crashed: ${why}. It starts again in ${pause / 1000} s, or when you save.`);
    this.#pause = setTimeout(this.#events.due, pause);
  }
}

const endOf = ({ exitCode, signalCode }: ChildProcess) =>
  signalCode ? `ended by ${signalCode}` : `exit code ${exitCode}; its last output is above`;

const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

const exited = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => {
    if (isRunning(child)) child.once("exit", resolve);
    else resolve(child.exitCode);
  });
