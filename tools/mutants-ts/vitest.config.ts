import { configDefaults, defineConfig } from "vitest/config";

// The project `units` of the repository's configuration. StrykerJS takes a file, not a project.
export default defineConfig({
  test: {
    include: ["*/src/**/*.test.ts"],
    exclude: [...configDefaults.exclude, "operator/src/plugins/*/test/**"],
  },
});
