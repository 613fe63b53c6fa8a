#!/usr/bin/env node
/**
 * The `svc` command, as an old Node can still read it: nothing is imported before the version is known. `svc init` works
 * there, for the application that it makes brings its own Node.
 * Next hop: `main.ts`.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isNew = major > 22 || (major === 22 && minor >= 18);

if (isNew) await import("./main.ts");
else if (process.argv[2] === "init" && major >= 20) await import("./init-alone.ts");
else {
  process.stderr.write(
    `svc needs Node 22.18 or newer; this is ${process.version}.\n` +
      "  An application that svc init made brings its own: run svc through npm, as in `npm run dev`.\n" +
      "  In another one: npm install --save-dev node@24\n",
  );
  process.exit(1);
}
