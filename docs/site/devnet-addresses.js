/** The devnet that the documents' examples are about: its operator, and the addresses of its first deployment. */
export const DEVNET = {
  operator: "http://127.0.0.1:8080",
  networkId: 42,
  lens: "0x5FC8d32690cc91D4c39d9d3abcBD16989F875707",
  provider: "0x1CBd3b2770909D4e10f157cABC84C7264073C9Ec",
  /** By the name in the deployment file. */
  datasets: {
    financial: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
    webOracleNumber: "0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0",
    webOracleBytes: "0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9",
  },
};
