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
const send = (child: ChildProcess, words: readonly string[]) => void child.send(words, () => {});

/**
 * Delays before each restart after a crash, in milliseconds. After the last one, only a saved file restarts the
 * service.
 */
const pauses = [200, 1_000, 3_000, 10_000, 30_000];
/** In milliseconds: after serving this long, the next crash counts as the first again. */
const well = 60_000;

interface ServerEvents {
  /** It is time to restart after a crash. */
  due(): void;
  /** The service did something that Studio shows. */
  observed(observed: Observed): void;
}

/** The process that serves. */
export class DevServer {
  readonly #spare: Spare;
  readonly #words: readonly string[];
  readonly #events: ServerEvents;
  #child: ChildProcess | undefined;
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

  /** Stops the current process and serves with the next one. Resolves when that serves or has failed. */
  async replace(next: ChildProcess): Promise<void> {
    await this.stop();
    this.#crashes = 0;
    await this.#start(next);
  }

  /** Restarts after a crash, unless that has happened meanwhile. */
  async revive(): Promise<void> {
    if (this.#child && !this.serves) await this.#start(this.#spare.take());
  }

  async stop(): Promise<void> {
    clearTimeout(this.#pause);
    const child = this.#child;
    if (!child) return;
    this.#child = undefined; // its exit is expected now
    child.kill("SIGTERM");
    await exited(child);
  }

  async #start(child: ChildProcess): Promise<void> {
    this.#child = child;
    send(child, this.#words);
    let since: number | undefined;
    const ready = new Promise<void>((resolve) => {
      child.on("message", (message: "ready" | Observed) => {
        if (message !== "ready") return this.#events.observed(message);
        since = performance.now();
        resolve();
      });
    });
    void exited(child).then(() => {
      if (this.#child === child) this.#crashed(child, since);
    });
    await Promise.race([ready, exited(child)]);
  }

  /** @param since when it began to serve; without it, a restart would fail again */
  #crashed({ exitCode, signalCode }: ChildProcess, since: number | undefined): void {
    const why = signalCode ? `ended by ${signalCode}` : `exit code ${exitCode}; its last output is above`;
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

const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

const exited = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => {
    if (isRunning(child)) child.once("exit", resolve);
    else resolve(child.exitCode);
  });
