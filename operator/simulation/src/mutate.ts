/** Loaded by Node before everything else: from then on the product has the fault that the environment names. */

import { register } from "node:module";

register("./mutate-hooks.js", import.meta.url, { data: JSON.parse(process.env.MUTANT ?? "") });
