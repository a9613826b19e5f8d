import { accountSourcesOf } from "@dataset-oracle/service/keys/find-accounts";
import { expect, test } from "vitest";
import { PROVIDER } from "../load-setup.js";
import { PUBLISHER } from "./transactions.js";
import { ANNOUNCE_USAGE, CHECK_USAGE, PUBLISH_USAGE, SERVE_USAGE } from "./usage.js";

test.each([
  ["serve", SERVE_USAGE, PROVIDER],
  ["check", CHECK_USAGE, PROVIDER],
  ["publish", PUBLISH_USAGE, PUBLISHER],
  ["announce", ANNOUNCE_USAGE, PUBLISHER],
])("the help of %s names every variable of an account", (_, usage, owner) => {
  for (const { variables } of accountSourcesOf(owner)) for (const name of variables) expect(usage).toContain(name);
});
