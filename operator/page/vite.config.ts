import { join } from "node:path";
import { precompress } from "@dataset-oracle/tools/precompress";
import { defineConfig } from "vite";

/** The operator that the page asks while it is worked on. */
const OPERATOR = process.env.OPERATOR_URL ?? "http://127.0.0.1:8080";
const proxy = Object.fromEntries(
  ["/overview", "/data", "/history", "/datasets", "/guide", "/openapi.json"].map((path) => [path, OPERATOR]),
);

export default defineConfig({
  // The operator may serve it under any path.
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [{ name: "precompress", closeBundle: () => precompress(join(import.meta.dirname, "dist")) }],
  build: {
    target: "es2022",
    // Nothing is inlined as a data: URL, so that everything the page loads is one of its files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy },
});
