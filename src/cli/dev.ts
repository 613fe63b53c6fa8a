/**
 * `svc dev`: generates, migrates and serves, and repeats this when a file changes. On an error the message is printed,
 * and the last working version keeps serving. A service that crashes is restarted.
 * Next hop: `dev-processes.ts`, since imported modules cannot be unloaded: each version runs in a process of its own.
 */
import type { ChildProcess } from "node:child_process";
import { isFree } from "../cluster/port.ts";
import type { EffectiveConfig } from "../config/config.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { Observations } from "../telemetry/observations.ts";
import { endBeside, startBeside } from "./beside.ts";
import { logAsJson, openDatabase, readConfig, say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { DevServer, prepare, Spare } from "./dev-processes.ts";
import { flag, text } from "./options.ts";
import { nextSignal } from "./signal.ts";
import { studioBesideDev } from "./studio.ts";
import { describeTaken, nextFree } from "./taken-port.ts";
import { checkTypesBeside } from "./types.ts";
import { watchApplication } from "./watch.ts";

export const command = defineCommand({
  args: {
    with: text("A command to run alongside, such as the frontend's dev server. (Default: none)"),
    types: flag("Do not check types beside it, where there are TypeScript and a tsconfig.json.", { default: true }),
    json: logAsJson,
  },
  run: async ({ cwd, with: companion, types, json }) => {
    const environment = { ...process.env }; // without .env, which each process reads again
    const config = await readConfig(cwd);
    const page = companion ? pagePort(config) : undefined;
    if (page !== undefined) await refuseTaken(page);
    const cluster = await openDatabase(config);
    const observations = new Observations();
    const spare = new Spare(environment);
    const server = new DevServer(spare, ["start", "--cwd", cwd, "--with-worker", ...(json ? ["--json"] : [])], {
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
    let isPrepared = false;
    let waiting = 0;
    let isEnding = false;
    let studio: Awaited<ReturnType<typeof studioBesideDev>> | undefined;
    let endTypes: (() => void) | undefined;

    const reload = async () => {
      const began = performance.now();
      waiting--;
      if (isEnding || waiting > 0) return; // the last of several saves prepares all of them
      preparing = true;
      const result = await prepare(spare, ["prepare", "--cwd", cwd, ...(isPrepared ? ["--quick"] : [])]);
      preparing = false;
      isPrepared = result !== undefined;
      if (isEnding) return result?.end();
      if (types) endTypes ??= checkTypesBeside(config.cwd, environment); // only now the generated files are there
      const until = server.serves ? "The last good version keeps serving." : "Until then nothing is served.";
      if (!result) return say(`Fix it and save. ${until}`);
      if (waiting > 0) return result.end(); // files were saved meanwhile that this run has not prepared
      await server.replace(result.next());
      studio ??= await studioBesideDev(config, cluster, observations);
      say(`  ${Math.round(performance.now() - began)} ms`);
    };
    const schedule = () => {
      waiting++;
      turns = turns.then(reload).then(() => {
        if (!isEnding) spare.keep();
      });
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
    isEnding = true; // a version that is being prepared is not served any more
    stopWatching();
    endBeside(beside);
    if (beside && ended === beside) {
      const { signalCode, exitCode } = beside;
      const how = signalCode ? `was ended by ${signalCode}` : `has ended with exit code ${exitCode}`;
      say(`\n"${companion}" ${how}, so svc dev ends too.`);
      if (beside.exitCode !== 0) process.exitCode = 1;
    }
    await turns;
    endTypes?.();
    spare.end();
    await server.stop();
    await studio?.stop();
    await cluster.stop();
    if (ended instanceof Error) throw ended;
  },
});

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
const isGenerated = /^(sql[\\/](crud[\\/]|(history|realtime|search)\.sql$)|(migrations[\\/]meta|.*\bgenerated)[\\/])/;
const isMigration = /^migrations\b/;
