// Vitest runs this before each test file.

import { afterAll } from "vitest";
import { closeAll } from "./close-at-end.js";

afterAll(closeAll);
