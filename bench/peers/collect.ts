/** Collects garbage on SIGUSR2, for a contestant whose memory is measured: `--expose-gc --import` this. */
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  console.info("Collected");
});
