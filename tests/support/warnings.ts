/**
 * Loaded into each worker, and into the commands that tests start (`cli.ts`): what the next major version of `pg` will refuse
 * is an error now.
 */
process.on("warning", (warning) => {
  if (/client\.query\(\) when the client is already executing/.test(warning.message)) throw warning;
});
