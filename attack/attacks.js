import { alteredCalldata } from "./attacks/altered-calldata.js";
import { chosenMoments } from "./attacks/chosen-moments.js";
import { craftedJsonPath } from "./attacks/crafted-json-path.js";
import { floodedQueue } from "./attacks/flooded-queue.js";
import { forwardedForForms } from "./attacks/forwarded-for-forms.js";
import { hostileTrials } from "./attacks/hostile-trials.js";
import { hostileUrls } from "./attacks/hostile-urls.js";
import { keptOpenHosts } from "./attacks/kept-open-hosts.js";
import { keysWithoutSpec } from "./attacks/keys-without-spec.js";
import { largeAnswers } from "./attacks/large-answers.js";
import { logFlood } from "./attacks/log-flood.js";
import { lyingProviders } from "./attacks/lying-providers.js";
import { lyingRpc } from "./attacks/lying-rpc.js";
import { malformedRequests } from "./attacks/malformed-requests.js";
import { manyConnections } from "./attacks/many-connections.js";
import { newKeysFromOneAddress } from "./attacks/new-keys-from-one-address.js";
import { pathTraversal } from "./attacks/path-traversal.js";
import { pipelinedGuidePages } from "./attacks/pipelined-guide-pages.js";
import { refusedFees } from "./attacks/refused-fees.js";
import { damagedDatabase, killedProviders, movedClocks } from "./attacks/restarted-providers.js";
import { secretsInAnswers } from "./attacks/secrets-in-answers.js";
import { secretsInProcesses } from "./attacks/secrets-in-processes.js";
import { unknownKeys } from "./attacks/unknown-keys.js";
import { unreadAnswers } from "./attacks/unread-answers.js";
import { variableInjections } from "./attacks/variable-injections.js";
import { wrongCertificates } from "./attacks/wrong-certificates.js";

/** In the order in which they run. */
export const ATTACKS = [
  // Connections and requests
  pipelinedGuidePages,
  unreadAnswers,
  manyConnections,
  forwardedForForms,
  pathTraversal,
  malformedRequests,
  logFlood,
  // Shares
  newKeysFromOneAddress,
  floodedQueue,
  unknownKeys,
  keysWithoutSpec,
  // Sources and keys of a provider
  craftedJsonPath,
  largeAnswers,
  keptOpenHosts,
  hostileUrls,
  hostileTrials,
  wrongCertificates,
  variableInjections,
  secretsInAnswers,
  secretsInProcesses,
  // Inputs of an operator and of a dataset
  lyingProviders,
  alteredCalldata,
  lyingRpc,
  refusedFees,
  // Kills, clocks and disks
  killedProviders,
  movedClocks,
  damagedDatabase,
  chosenMoments,
];
