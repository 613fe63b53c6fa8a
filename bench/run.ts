/** `npm run bench [-- NAME… [--option value …]]`: runs the named benchmarks, or all of them. One file per dimension. */
const all = [
  "crud",
  "handlers",
  "lists",
  "related",
  "batch",
  "written",
  "types",
  "graphql",
  "realtime",
  "live",
  "channels",
  "start",
  "dev",
  "auth",
  "jobs",
  "workflows",
  "storage",
  "transfer",
  "documents",
  "search",
  "catalog",
  "studio",
  "backup",
];
const given = process.argv.slice(2);
const options = given.findIndex((argument) => argument.startsWith("--"));
const wanted = options < 0 ? given : given.slice(0, options);

for (const name of wanted.length > 0 ? wanted : all) {
  if (!all.includes(name)) throw new Error(`There is no benchmark "${name}". There are: ${all.join(", ")}.`);
  const { run } = await import(`./${name}.ts`);
  await run();
}
