// A store for Anthropic's memory tool (memory_20250818): its commands are the operations `file.*`,
// which answer with the sentences of the reference implementation.
//
// With the SDK of Anthropic:
//     betaMemoryTool(memoryToolHandlers(loci))
// In a tool loop of your own, for each `tool_use` block named "memory":
//     content.push(await memoryToolResult(loci, block))

import type { Loci } from "./client.js";
import { LociError } from "./errors.js";

/** The tool as a request to the Messages API declares it. */
export const MEMORY_TOOL = { type: "memory_20250818", name: "memory" } as const;

/** One function per command of the tool; each returns the text for the model. */
export interface MemoryToolHandlers {
    view(command: { path: string; view_range?: number[] }): Promise<string>;
    create(command: { path: string; file_text: string }): Promise<string>;
    str_replace(command: { path: string; old_str: string; new_str: string }): Promise<string>;
    insert(command: { path: string; insert_line: number; insert_text: string }): Promise<string>;
    delete(command: { path: string }): Promise<string>;
    rename(command: { old_path: string; new_path: string }): Promise<string>;
}

/** Handlers for `betaMemoryTool` of the SDK. User and persona are those of the client. */
export function memoryToolHandlers(loci: Loci): MemoryToolHandlers {
    const { file } = loci;
    return {
        view: async ({ path, view_range }) => (await file.view({ path, view_range })).text,
        create: async ({ path, file_text }) => (await file.create({ path, file_text })).text,
        str_replace: async ({ path, old_str, new_str }) =>
            (await file.strReplace({ path, old_str, new_str })).text,
        insert: async ({ path, insert_line, insert_text }) =>
            (await file.insert({ path, insert_line, insert_text })).text,
        delete: async ({ path }) => (await file.delete({ path })).text,
        rename: async ({ old_path, new_path }) => (await file.rename({ old_path, new_path })).text,
    };
}

export interface MemoryToolResult {
    type: "tool_result";
    tool_use_id: string;
    content: string;
    is_error?: true;
}

/**
 * Runs the command of a `tool_use` block. A command that loci refuses becomes a result with
 * `is_error`, for the model to read; if the daemon fails or is not reached, it throws.
 */
export async function memoryToolResult(
    loci: Loci, block: { id: string; input: unknown },
): Promise<MemoryToolResult> {
    const handlers = memoryToolHandlers(loci) as unknown as
        Record<string, ((command: object) => Promise<string>) | undefined>;
    const input = (block.input ?? {}) as { command?: unknown };
    const name = String(input.command);
    const result = { type: "tool_result", tool_use_id: block.id } as const;
    if (!Object.hasOwn(handlers, name)) {
        return { ...result, content: `Error: unknown command ${name}`, is_error: true };
    }
    try {
        return { ...result, content: await handlers[name]!(input) };
    } catch (error) {
        const isRefusal = error instanceof LociError && error.status !== undefined &&
            error.status >= 400 && error.status < 500 && error.code !== "unauthenticated";
        if (!isRefusal) throw error;
        return { ...result, content: error.message, is_error: true };
    }
}
