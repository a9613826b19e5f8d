import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the path of the built operator.
 *
 * @throws When it is not built.
 */
export function operatorMain(): string {
  const path = join(import.meta.dirname, "..", "..", "dist", "main.js");
  if (!existsSync(path)) throw new Error("The operator is not built. Run: npm run build");
  return path;
}
