// Generated from src/lens/QueryLens.sol by `npm run abi`.

export const queryLensAbi = [
  {"type":"function","name":"queryMany","inputs":[{"name":"dataset","type":"address"},{"name":"keys","type":"bytes[]"}],"outputs":[{"name":"answers","type":"tuple[]","components":[{"name":"output","type":"bytes32"},{"name":"updatedAt","type":"uint256"},{"name":"status","type":"uint8"}]}],"stateMutability":"nonpayable"},
] as const;
