import type { ApiDescription } from "@dataset-oracle/service/http-server/openapi";

export const API: ApiDescription = {
  title: "Dataset Oracle data provider",
  description:
    "Reads values from web sources and signs reports about them, for anyone who asks. The dataset contract verifies the " +
    "signatures, so whoever submits a report need not be trusted. No API key is needed.",
  contact: "The provider's owner",
  tags: {
    reports: "Signed reports.",
    health: "The state of the process, for whoever runs it.",
  },
};
