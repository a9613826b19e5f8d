import type { Attack } from "./attack.js";
import { alteredCalldata } from "./attacks/altered-calldata.js";
import { announcedKeysWithoutSpec } from "./attacks/announced-keys-without-spec.js";
import { costlyJsonPath } from "./attacks/costly-json-path.js";
import { damagedLease } from "./attacks/damaged-lease.js";
import { echoedApiSecrets } from "./attacks/echoed-api-secrets.js";
import { everyFeeCalledTooLow } from "./attacks/every-fee-called-too-low.js";
import { exposedPrivateKeys } from "./attacks/exposed-private-keys.js";
import { floodedQueue } from "./attacks/flooded-queue.js";
import { forwardedForVariants } from "./attacks/forwarded-for-variants.js";
import { fullDisks } from "./attacks/full-disks.js";
import { hostileUrls } from "./attacks/hostile-urls.js";
import { killedProviders } from "./attacks/killed-providers.js";
import { largeSourceAnswers } from "./attacks/large-source-answers.js";
import { leakedFileDescriptors } from "./attacks/leaked-file-descriptors.js";
import { logFlood } from "./attacks/log-flood.js";
import { lyingProviders } from "./attacks/lying-providers.js";
import { lyingRpc } from "./attacks/lying-rpc.js";
import { malformedRequests } from "./attacks/malformed-requests.js";
import { manyConnections } from "./attacks/many-connections.js";
import { movedClocks } from "./attacks/moved-clocks.js";
import { newKeysFromOneAddress } from "./attacks/new-keys-from-one-address.js";
import { pathTraversal } from "./attacks/path-traversal.js";
import { pipelinedRequests } from "./attacks/pipelined-requests.js";
import { sharedLeases } from "./attacks/shared-leases.js";
import { staggeredReportRequests } from "./attacks/staggered-report-requests.js";
import { unclosedSourceConnections } from "./attacks/unclosed-source-connections.js";
import { unknownKeys } from "./attacks/unknown-keys.js";
import { unreadAnswers } from "./attacks/unread-answers.js";
import { variableInjections } from "./attacks/variable-injections.js";
import { wrongCertificates } from "./attacks/wrong-certificates.js";

/** In the order in which they run. */
export const ATTACKS: readonly Attack[] = [
  // Connections and requests
  leakedFileDescriptors,
  unreadAnswers,
  manyConnections,
  pipelinedRequests,
  forwardedForVariants,
  pathTraversal,
  malformedRequests,
  logFlood,
  // Limits and budgets that callers share
  newKeysFromOneAddress,
  floodedQueue,
  unknownKeys,
  announcedKeysWithoutSpec,
  // Sources and keys of a provider
  costlyJsonPath,
  largeSourceAnswers,
  unclosedSourceConnections,
  hostileUrls,
  wrongCertificates,
  variableInjections,
  echoedApiSecrets,
  exposedPrivateKeys,
  // What an operator and a dataset are told
  lyingProviders,
  alteredCalldata,
  lyingRpc,
  everyFeeCalledTooLow,
  // Kills, clocks, disks and timing
  killedProviders,
  movedClocks,
  damagedLease,
  fullDisks,
  sharedLeases,
  staggeredReportRequests,
];
