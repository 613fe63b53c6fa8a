/**
 * `svc dev`: generates, migrates and serves, and repeats this when a file changes. On an error the message is printed,
 * and the last working version keeps serving. A service that crashes is restarted.
 * Next hop: `prepare.ts` and `start.ts`, each run in a separate process, since imported modules cannot be unloaded.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { EffectiveConfig } from "../config/config.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { Observations, type Observed } from "../telemetry/observations.ts";
import { endBeside, startBeside } from "./beside.ts";
import { cwdArgument, developing, logArgument, openDatabase, readConfig, run, say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { nextSignal } from "./signal.ts";
import { studioBesideDev } from "./studio.ts";
import { describeTaken, isFree, nextFree } from "./taken-port.ts";
import { checkTypesBeside } from "./types.ts";
import { watchApplication } from "./watch.ts";

export const dev = defineCommand({
  meta: { name: "dev", description: "Serve, and reload after every change." },
  args: {
    ...cwdArgument,
    with: {
      type: "string",
      description: "A command to run alongside, such as the frontend's dev server. (Default: none)",
    },
    types: {
      type: "boolean",
      description: "Do not check types beside it, where there are TypeScript and a tsconfig.json.",
      default: true,
    },
    ...logArgument,
  },
  run: ({ args }) => run(args.cwd, () => develop(args.cwd, args)),
});

interface Options {
  with?: string | undefined;
  types: boolean;
  json: boolean;
}

async function develop(cwd: string, { with: companion, types, json }: Options): Promise<void> {
  const environment = { ...process.env }; // without .env, which each process reads again
  const config = await readConfig(cwd);
  const page = companion ? pagePort(config) : undefined;
  if (page !== undefined) await refuseTaken(page);
  const cluster = await openDatabase(config);
  const observations = new Observations();
  const server = new Server(cwd, environment, json, {
    due: () => {
      turns = turns.then(() => server.revive());
    },
    observed: (observed) => observations.take(observed),
  });
  const beside = companion
    ? startBeside(companion, cwd, companionEnvironment(environment, config.port, page))
    : undefined;
  let turns = Promise.resolve();
  let preparing = false;
  let waiting = 0;
  let studio: Awaited<ReturnType<typeof studioBesideDev>> | undefined;
  let endTypes: (() => void) | undefined;

  const reload = async () => {
    const began = performance.now();
    waiting--;
    preparing = true;
    const right = await succeeds("prepare", cwd, environment);
    preparing = false;
    if (types) endTypes ??= checkTypesBeside(config.cwd, environment); // only now the generated files are there
    if (!right)
      return say(
        `Fix it and save. ${server.serves ? "The last good version keeps serving." : "Until then nothing is served."}`,
      );
    if (waiting > 0) return; // files were saved meanwhile that this run has not prepared
    await server.replace();
    studio ??= await studioBesideDev(config, cluster, observations);
    say(`  ${Math.round(performance.now() - began)} ms`);
  };
  const schedule = () => {
    waiting++;
    turns = turns.then(reload);
  };

  schedule();
  const stopWatching = watchApplication(
    config,
    (file) => isGenerated.test(file) || (preparing && isMigration.test(file)),
    (file) => {
      say(`\n${file} changed`);
      schedule();
    },
  );
  const ended = await Promise.race([
    nextSignal(),
    cluster.failed,
    new Promise<ChildProcess>((resolve) => beside?.once("exit", () => resolve(beside))),
  ]);
  stopWatching();
  endBeside(beside);
  if (beside && ended === beside) {
    const how = beside.signalCode ? `was ended by ${beside.signalCode}` : `has ended with exit code ${beside.exitCode}`;
    say(`\n"${companion}" ${how}, so svc dev ends too.`);
    if (beside.exitCode !== 0) process.exitCode = 1;
  }
  await turns;
  endTypes?.();
  await server.stop();
  await studio?.stop();
  await cluster.stop();
  if (ended instanceof Error) throw ended;
}

/** The port of the page's own server: that of the first frontend origin on this machine. */
function pagePort({ frontendOrigins }: EffectiveConfig): number | undefined {
  const local = frontendOrigins.map((origin) => new URL(origin)).find(({ hostname }) => hostname === "localhost");
  return local ? Number(local.port || 80) : undefined;
}

/** @throws DefinitionError that names the process, before a server beside it ends with a message of its own */
async function refuseTaken(port: number): Promise<void> {
  if (await isFree(port)) return;
  const [taken, free] = await Promise.all([describeTaken(port), nextFree(port)]);
  throw new DefinitionError(taken.text, {
    hint: `${taken.remedy} Or give the page another port in frontendOrigins of svc.config.ts${free ? `: http://localhost:${free} is free` : ""}.`,
  });
}

/** PORT is the page's own; SVC_URL is where the service answers. */
function companionEnvironment(env: NodeJS.ProcessEnv, service: number, page: number | undefined): NodeJS.ProcessEnv {
  const { PORT: _services, ...others } = env;
  return {
    ...others,
    ...(page !== undefined && { PORT: String(page) }),
    ...(service !== 0 && { SVC_URL: `http://localhost:${service}` }),
  };
}

/** Files that `svc prepare` writes, including those that the author also edits. Paths relative to the application. */
const isGenerated = /^(sql[\\/](crud[\\/]|(realtime|search)\.sql$)|(migrations[\\/]meta|.*\bgenerated)[\\/])/;
const isMigration = /^migrations\b/;

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
class Server {
  readonly #cwd: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #json: boolean;
  readonly #events: ServerEvents;
  #child: ChildProcess | undefined;
  #crashes = 0;
  #pause: NodeJS.Timeout | undefined;

  /** @param json whether its log is JSON in a terminal too */
  constructor(cwd: string, environment: NodeJS.ProcessEnv, json: boolean, events: ServerEvents) {
    this.#cwd = cwd;
    this.#environment = environment;
    this.#json = json;
    this.#events = events;
  }

  /** Whether a version of the application is running. */
  get serves(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Stops the current process and starts the next one. Resolves when that serves or has failed. */
  async replace(): Promise<void> {
    await this.stop();
    this.#crashes = 0;
    await this.#start();
  }

  /** Restarts after a crash, unless that has happened meanwhile. */
  async revive(): Promise<void> {
    if (this.#child && !this.serves) await this.#start();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#pause);
    const child = this.#child;
    if (!child) return;
    this.#child = undefined; // its exit is expected now
    child.kill("SIGTERM");
    await exited(child);
  }

  async #start(): Promise<void> {
    const child = command("start", this.#cwd, this.#environment, "--with-worker", ...(this.#json ? ["--json"] : []));
    this.#child = child;
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

/** The IPC channel tells the command that `svc dev` started it. */
const command = (name: string, cwd: string, env: NodeJS.ProcessEnv, ...flags: string[]) =>
  spawn(process.execPath, [process.argv[1] ?? "", name, "--cwd", cwd, ...flags], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...env, [developing]: "1" },
  });

const exited = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode);
    else child.once("exit", resolve);
  });

const succeeds = async (name: string, cwd: string, env: NodeJS.ProcessEnv) =>
  (await exited(command(name, cwd, env))) === 0;
