#!/usr/bin/env node
/**
 * The `svc` command. An old Node must be able to parse it, so nothing is imported before the version is checked. `svc
 * init` runs on an old Node too, because the application that it creates has its own Node.
 * Next hop: `main.ts`.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isNew = major > 22 || (major === 22 && minor >= 18);

if (isNew) await import("./main.ts");
else if (process.argv[2] === "init" && major >= 20)
  await (await import("./dispatch.ts")).dispatch(process.argv.slice(2));
else {
  process.stderr.write(
    `svc needs Node 22.18 or newer; this is ${process.version}.\n` +
      "  An application that svc init made brings its own: run svc through npm, as in `npm run dev`.\n" +
      "  In another one: npm install --save-dev node@24\n",
  );
  process.exit(1);
}
