export declare function isExternal(href: string): boolean;
export declare function resolveLink(source: string, href: string): { file: string; anchor: string };
export declare function folderOf(file: string): string;
export declare function isSource(file: string): boolean;
export declare function relative(from: string, to: string): string;
export declare function imageOf(file: string): string;
