import { craftedJsonPath } from "./attacks/crafted-json-path.js";
import { forwardedForPorts } from "./attacks/forwarded-for-ports.js";
import { idleConnections } from "./attacks/idle-connections.js";
import { malformedRequests } from "./attacks/malformed-requests.js";
import { pathTraversal } from "./attacks/path-traversal.js";
import { pipelinedGuidePages } from "./attacks/pipelined-guide-pages.js";
import { unreadAnswers } from "./attacks/unread-answers.js";

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
];
