// Generated from src/Oracle.sol by `npm run abi`.

export const oracleAbi = [
  {"type":"function","name":"query","inputs":[{"name":"input","type":"bytes"}],"outputs":[{"name":"output","type":"bytes32"},{"name":"updatedAt","type":"uint256"},{"name":"status","type":"uint8"}],"stateMutability":"payable"},
  {"type":"function","name":"queryPrice","inputs":[],"outputs":[{"name":"","type":"uint256"}],"stateMutability":"view"},
] as const;
