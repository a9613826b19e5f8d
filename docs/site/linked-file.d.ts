export declare function isExternal(href: string): boolean;
export declare function linkedFile(document: string, href: string): { file: string; anchor: string };
