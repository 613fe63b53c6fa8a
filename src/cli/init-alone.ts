/** `svc init` on a Node version that is too old for the other commands. */
import { defineCommand, runMain } from "citty";
import { initCommand } from "./init.ts";

await runMain(defineCommand({ meta: { name: "svc" }, subCommands: { init: initCommand } }));
