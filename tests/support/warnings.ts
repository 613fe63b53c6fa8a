/**
 * Loaded into each worker, and into commands that tests start (`cli.ts`): turns into errors what the next major version
 * of `pg` will refuse.
 */
process.on("warning", (warning) => {
  if (/client\.query\(\) when the client is already executing/.test(warning.message)) throw warning;
});

// As the service sets it before it loads PostGraphile: some tests load parts of it before, and it would print what is asked.
process.env.GRAPHILE_ENV ??= "production";
