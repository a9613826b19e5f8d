// Generated from src/interfaces/IUpdateGateway.sol by `npm run abi`.

export const updateGatewayAbi = [
  {"type":"function","name":"fetchUpdate","inputs":[{"name":"dataset","type":"address"},{"name":"key","type":"bytes"}],"outputs":[{"name":"update","type":"bytes"}],"stateMutability":"view"},
] as const;
