import { alteredCalldata } from "./attacks/altered-calldata.js";
import { craftedJsonPath } from "./attacks/crafted-json-path.js";
import { forwardedForPorts } from "./attacks/forwarded-for-ports.js";
import { hostileUrls } from "./attacks/hostile-urls.js";
import { idleConnections } from "./attacks/idle-connections.js";
import { lyingProviders } from "./attacks/lying-providers.js";
import { malformedRequests } from "./attacks/malformed-requests.js";
import { pathTraversal } from "./attacks/path-traversal.js";
import { pipelinedGuidePages } from "./attacks/pipelined-guide-pages.js";
import { secretsInAnswers } from "./attacks/secrets-in-answers.js";
import { secretsInProcesses } from "./attacks/secrets-in-processes.js";
import { unreadAnswers } from "./attacks/unread-answers.js";
import { variableInjections } from "./attacks/variable-injections.js";
import { wrongCertificates } from "./attacks/wrong-certificates.js";

/** In the order in which they run. */
export const ATTACKS = [
  // Connections and requests
  pipelinedGuidePages,
  unreadAnswers,
  idleConnections,
  forwardedForPorts,
  pathTraversal,
  malformedRequests,
  // What a provider reads
  craftedJsonPath,
  hostileUrls,
  wrongCertificates,
  variableInjections,
  secretsInAnswers,
  secretsInProcesses,
  // What an operator and a dataset are given
  lyingProviders,
  alteredCalldata,
];
