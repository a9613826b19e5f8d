import type { App } from "@dataset-oracle/service/http-server/app";

export declare function withAppForDocs<T>(ask: (app: App) => T | Promise<T>): Promise<T>;
