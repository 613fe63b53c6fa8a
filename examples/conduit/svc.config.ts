import { defineConfig } from "@svc/core";

export default defineConfig({});
