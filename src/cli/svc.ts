#!/usr/bin/env node
/**
 * The `svc` command. An old Node must be able to parse it, so nothing is imported before the version is checked. `svc
 * init` runs on an old Node too, because the application that it creates has its own Node.
 * Next hop: `main.ts`.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isNew = major > 22 || (major === 22 && minor >= 18);

if (isNew) {
  const { outliveReaders } = await import("./signal.ts"); // notes the parent before that can end
  outliveReaders();
  await import("./main.ts");
} else if (process.argv[2] === "init" && major >= 20)
  await (await import("./dispatch.ts")).dispatch(process.argv.slice(2));
else {
  process.stderr.write(
    `svc runs on the Node 24 that its application brings; this is ${process.version}.\n` +
      "  Run svc through npm, as in `npm run dev` or `npx svc`, in the application's folder.\n" +
      "  If the application brings none: npm install --save-dev node@24\n",
  );
  process.exit(1);
}
