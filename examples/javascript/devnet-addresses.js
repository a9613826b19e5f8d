// The devnet that `npm start` runs. On another network, use its own addresses: GET /datasets of an operator lists the
// datasets, GET /overview names the lens, and the consumer is your contract.
export const RPC_URL = process.env.RPC_URL ?? "http://127.0.0.1:8545";
export const OPERATOR = process.env.OPERATOR_URL ?? "http://127.0.0.1:8080";
export const NETWORK_ID = 42;
export const DATASET = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
/** test/examples/SpotPriceConsumer.sol */
export const CONSUMER = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
/** The network's lens, for verified reads. */
export const LENS = "0x5FC8d32690cc91D4c39d9d3abcBD16989F875707";
/** An account for which the devnet's chain signs. */
export const ACCOUNT = "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f";
