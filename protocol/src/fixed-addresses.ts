import type { Address } from "viem";

/**
 * The addresses of contracts on every network where they were deployed through the deterministic deployment proxy, as the
 * scripts in `script/` do. They depend on nothing but the contract's code.
 */

/** The directory in which data providers announce their URLs. */
export const COMMITTEE_DIRECTORY: Address = "0xB5A3e1328d65d3E78c9Fb2C4aA359aB9547d9e97";

/** The registry in which the Web Oracle's request specs are published. */
export const WEB_ORACLE_REGISTRY: Address = "0x287ffbEA4238228c0F67fd87cEBDaE0F5760967d";
