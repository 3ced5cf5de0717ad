// Persistence for LangGraph: a checkpointer and a store, on the facts of one loci user.
//
//     graph.compile({ checkpointer: new LociSaver(loci), store: new LociStore(loci) })
//
// Keys of the checkpointer, where INVERTED is the checkpoint's id with its bytes complemented, so
// that the list of facts, which is in the order of keys, has the newest checkpoint first:
//
//     c/THREAD/NS/INVERTED             a checkpoint without its large values, and its metadata
//     w/THREAD/NS/INVERTED/TASK/INDEX  a pending write
//     b/THREAD/SHA256/PART             a large value; equal values of a thread are stored once
//
// Values are written before the checkpoint that names them, so a checkpoint is never incomplete.
//
// Keys of the store are s/NAMESPACE/.../=KEY with each name escaped. For `query`, the text of an
// item is also a memory, whose metadata has the item and every prefix of its namespace.

import { createHash } from "node:crypto";
import {
    BaseCheckpointSaver, BaseStore, copyCheckpoint, getCheckpointId, getTextAtPath,
    maxChannelVersion, TASKS, WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import type {
    ChannelVersions, Checkpoint, CheckpointListOptions, CheckpointMetadata,
    CheckpointPendingWrite, CheckpointTuple, Item, ListNamespacesOperation, MatchCondition,
    Operation, OperationResults, PendingWrite, PutOperation, SearchItem, SearchOperation,
    SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import type { BatchCall, Loci } from "./client.js";
import { LociError } from "./errors.js";
import type { Fact } from "./types.js";

/** Configuration of a run: the members of LangChain's RunnableConfig that are used. */
type Config = Parameters<BaseCheckpointSaver["getTuple"]>[0];

export interface LangGraphOptions {
    /** User of loci that owns the facts (default "langgraph"); they are not the end user's own. */
    userId?: string | undefined;
    /** Serializer of values (default: LangGraph's own). */
    serde?: SerializerProtocol | undefined;
}

/** A serialized value: its text, or the hash of its parts. */
interface Packed {
    type: string;
    /** Text, or base64 if `type` is not json. */
    data?: string;
    hash?: string;
    parts?: number;
}

interface StoredCheckpoint {
    thread_id: string;
    checkpoint_ns: string;
    checkpoint_id: string;
    parent_id: string | null;
    /** The checkpoint without `channel_versions` and `channel_values`. */
    checkpoint: Packed;
    metadata: Packed;
    versions: ChannelVersions;
    values: Record<string, Packed>;
}

interface StoredWrite {
    task_id: string;
    channel: string;
    value: Packed;
}

const INLINE_CHARS = 256; // A reference to a part takes about 100.
const PART_CHARS = 300_000; // At most 3 bytes each; the value of a fact may have 1,040,384.
const BATCH_CALLS = 100;
const BATCH_CHARS = 600_000;
const PAGE = 200;
const NAME_CHARS = 120; // Keys have at most 512 bytes and up to four names.
const KNOWN_MAX = 10_000;
const RECENT_MAX = 100;

function sha256(text: string): string {
    return createHash("sha256").update(text).digest("hex");
}

/** A name as a part of a key: escaped, or hashed if it is long. */
function name(text: string): string {
    const escaped = encodeURIComponent(text);
    return escaped.length <= NAME_CHARS ? escaped : `~${sha256(text)}`;
}

/** Sorts in the reverse order of ids. "~" comes after all digits: a longer id is the greater. */
function inverted(id: string): string {
    return `${Buffer.from(Buffer.from(id).map((byte) => 255 - byte)).toString("hex")}~`;
}

/** Parts of a text; none ends within a surrogate pair. */
function partsOf(text: string): string[] {
    const parts: string[] = [];
    for (let start = 0; start < text.length;) {
        let end = Math.min(start + PART_CHARS, text.length);
        if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1]!)) end--;
        parts.push(text.slice(start, end));
        start = end;
    }
    return parts;
}

/** Facts of one user, in calls that respect the limits of a batch. */
class Facts {
    readonly #loci: Loci;
    readonly #userId: string;

    constructor(loci: Loci, userId: string) {
        this.#loci = loci;
        this.#userId = userId;
    }

    /** Writes in order; a failure leaves the facts before it. */
    async write(facts: readonly (readonly [string, unknown])[]): Promise<void> {
        let calls: BatchCall[] = [], chars = 0;
        for (const [key, value] of facts) {
            const size = JSON.stringify(value).length;
            if (calls.length === BATCH_CALLS || (calls.length > 0 && chars + size > BATCH_CHARS)) {
                await this.#loci.batch(calls);
                calls = [];
                chars = 0;
            }
            const args = { key, value, user_id: this.#userId };
            calls.push({ op: "fact.write", args } as BatchCall);
            chars += size;
        }
        if (calls.length > 0) await this.#loci.batch(calls);
    }

    async get(key: string): Promise<unknown> {
        try {
            return (await this.#loci.fact.current({ key, user_id: this.#userId })).value;
        } catch (error) {
            if (error instanceof LociError && error.code === "not_found") return undefined;
            throw error;
        }
    }

    async *list(prefix: string, limit = PAGE): AsyncGenerator<Fact, void, undefined> {
        yield* this.#loci.fact.listAll({ prefix, limit, user_id: this.#userId });
    }

    async first(prefix: string): Promise<Fact | undefined> {
        const page = await this.#loci.fact.list({ prefix, limit: 1, user_id: this.#userId });
        return page.facts[0];
    }

    /** Erases facts for good, with all their versions. */
    async forget(keys: readonly string[]): Promise<void> {
        for (let at = 0; at < keys.length; at += BATCH_CALLS) {
            await this.#loci.batch(keys.slice(at, at + BATCH_CALLS).map((key) =>
                ({ op: "fact.forget", args: { key, user_id: this.#userId } })));
        }
    }
}

/** A LangGraph checkpointer. Checkpoints are durable when `put` returns. */
export class LociSaver extends BaseCheckpointSaver {
    readonly #facts: Facts;
    /** Keys of values that this process has written, so that they are not sent again. */
    readonly #known = new Set<string>();
    /** Checkpoints that this process has written: the next one refers to their values. */
    readonly #recent = new Map<string, StoredCheckpoint>();

    constructor(loci: Loci, options: LangGraphOptions = {}) {
        super(options.serde);
        this.#facts = new Facts(loci, options.userId ?? "langgraph");
    }

    async getTuple(config: Config): Promise<CheckpointTuple | undefined> {
        const thread = config.configurable?.["thread_id"] as string | undefined;
        if (thread === undefined) return undefined;
        const ns = (config.configurable?.["checkpoint_ns"] ?? "") as string;
        const id = getCheckpointId(config);
        const prefix = `c/${name(thread)}/${name(ns)}/`;
        const stored = id ? await this.#facts.get(prefix + inverted(id))
            : (await this.#facts.first(prefix))?.value;
        return stored ? this.#tuple(stored as StoredCheckpoint) : undefined;
    }

    async *list(
        config: Config, options: CheckpointListOptions = {},
    ): AsyncGenerator<CheckpointTuple> {
        const { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } =
            (config.configurable ?? {}) as Record<string, string | undefined>;
        const before = options.before?.configurable?.["checkpoint_id"] as string | undefined;
        let left = options.limit ?? Infinity;
        let prefix = "c/";
        if (thread !== undefined) prefix += `${name(thread)}/`;
        if (thread !== undefined && ns !== undefined) prefix += `${name(ns)}/`;
        if (left <= 0) return;
        for await (const fact of this.#facts.list(prefix, Math.min(left, PAGE))) {
            const stored = fact.value as unknown as StoredCheckpoint;
            if (ns !== undefined && stored.checkpoint_ns !== ns) continue;
            if (id && stored.checkpoint_id !== id) continue;
            if (before && stored.checkpoint_id >= before) continue;
            if (options.filter) {
                const metadata = await this.#load(thread ?? stored.thread_id, stored.metadata) as
                    Record<string, unknown>;
                const wanted = Object.entries(options.filter);
                if (!wanted.every(([key, value]) => metadata[key] === value)) continue;
            }
            yield await this.#tuple(stored);
            if (--left <= 0) return;
        }
    }

    async put(
        config: Config, checkpoint: Checkpoint, metadata: CheckpointMetadata,
        newVersions: ChannelVersions,
    ): Promise<Config> {
        const thread = threadOf(config, "checkpoint");
        const ns = (config.configurable?.["checkpoint_ns"] ?? "") as string;
        const parentId = config.configurable?.["checkpoint_id"] as string | undefined;
        const { channel_values, channel_versions, ...rest } = copyCheckpoint(checkpoint);
        const prefix = `c/${name(thread)}/${name(ns)}/`;
        const parent = parentId === undefined ? undefined
            : await this.#record(prefix + inverted(parentId));
        const facts: [string, unknown][] = [];
        const values: Record<string, Packed> = {};
        for (const [channel, value] of Object.entries(channel_values)) {
            const isOld = !Object.hasOwn(newVersions, channel);
            const former = parent?.values[channel];
            if (isOld && former && parent.versions[channel] === channel_versions[channel]) {
                values[channel] = former;
            } else if (!isOld || parent) {
                values[channel] = await this.#pack(thread, value, facts);
            }
        }
        const stored: StoredCheckpoint = {
            thread_id: thread,
            checkpoint_ns: ns,
            checkpoint_id: checkpoint.id,
            parent_id: parentId ?? null,
            checkpoint: await this.#pack(thread, rest, facts),
            metadata: await this.#pack(thread, metadata, facts),
            versions: channel_versions,
            values,
        };
        const key = prefix + inverted(checkpoint.id);
        await this.#write([...facts, [key, stored]]);
        if (this.#recent.size > RECENT_MAX) this.#recent.clear();
        this.#recent.set(key, stored);
        return configOf(thread, ns, checkpoint.id);
    }

    async putWrites(config: Config, writes: PendingWrite[], taskId: string): Promise<void> {
        const thread = threadOf(config, "writes");
        const ns = (config.configurable?.["checkpoint_ns"] ?? "") as string;
        const id = config.configurable?.["checkpoint_id"] as string | undefined;
        if (id === undefined) {
            throw new Error('putWrites: the config has no "checkpoint_id" in "configurable"');
        }
        const prefix = `w/${name(thread)}/${name(ns)}/${inverted(id)}/${name(taskId)}/`;
        const existing = new Set<string>();
        for await (const fact of this.#facts.list(prefix)) existing.add(fact.key);
        const facts: [string, unknown][] = [], own: [string, unknown][] = [];
        for (const [index, [channel, value]] of writes.entries()) {
            // Special writes, such as errors, have negative indexes and replace earlier ones.
            const place = WRITES_IDX_MAP[channel] ?? index;
            const key = prefix + String(place + 100_000);
            if (place >= 0 && existing.has(key)) continue;
            const packed = await this.#pack(thread, value, facts);
            own.push([key, { task_id: taskId, channel, value: packed } satisfies StoredWrite]);
        }
        await this.#write([...facts, ...own]);
    }

    async deleteThread(threadId: string): Promise<void> {
        const keys: string[] = [];
        for (const kind of ["c", "w", "b"]) {
            for await (const fact of this.#facts.list(`${kind}/${name(threadId)}/`)) {
                keys.push(fact.key);
            }
        }
        for (const key of keys) {
            this.#known.delete(key);
            this.#recent.delete(key);
        }
        await this.#facts.forget(keys);
    }

    async #record(key: string): Promise<StoredCheckpoint | undefined> {
        return this.#recent.get(key) ??
            await this.#facts.get(key) as StoredCheckpoint | undefined;
    }

    async #tuple(stored: StoredCheckpoint): Promise<CheckpointTuple> {
        const { thread_id: thread, checkpoint_ns: ns, parent_id: parent } = stored;
        const channels = Object.entries(stored.values);
        const [rest, metadata, values, pendingWrites] = await Promise.all([
            this.#load(thread, stored.checkpoint) as Promise<object>,
            this.#load(thread, stored.metadata) as Promise<CheckpointMetadata>,
            Promise.all(channels.map(async ([channel, packed]) =>
                [channel, await this.#load(thread, packed)] as const)),
            this.#pending(thread, ns, stored.checkpoint_id),
        ]);
        const checkpoint = {
            ...rest,
            channel_versions: { ...stored.versions },
            channel_values: Object.fromEntries(values),
        } as Checkpoint;
        if (checkpoint.v < 4 && parent !== null) {
            // Versions before 4 kept messages between nodes as writes of the parent.
            const sends = (await this.#pending(thread, ns, parent))
                .filter(([, channel]) => channel === TASKS).map(([, , value]) => value);
            const versions = Object.values(checkpoint.channel_versions);
            checkpoint.channel_values[TASKS] = sends;
            checkpoint.channel_versions[TASKS] = versions.length > 0
                ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
        }
        return {
            config: configOf(thread, ns, stored.checkpoint_id),
            checkpoint,
            metadata,
            pendingWrites,
            ...(parent === null ? {} : { parentConfig: configOf(thread, ns, parent) }),
        };
    }

    async #pending(thread: string, ns: string, id: string): Promise<CheckpointPendingWrite[]> {
        const writes: Promise<CheckpointPendingWrite>[] = [];
        const prefix = `w/${name(thread)}/${name(ns)}/${inverted(id)}/`;
        for await (const fact of this.#facts.list(prefix)) {
            const { task_id, channel, value } = fact.value as unknown as StoredWrite;
            writes.push(this.#load(thread, value).then((loaded) => [task_id, channel, loaded]));
        }
        return Promise.all(writes);
    }

    /** Serializes a value; the facts of a large one that may be missing are added to `facts`. */
    async #pack(thread: string, value: unknown, facts: [string, unknown][]): Promise<Packed> {
        const [type, bytes] = await this.serde.dumpsTyped(value);
        const data = Buffer.from(bytes).toString(type === "json" ? "utf8" : "base64");
        if (data.length <= INLINE_CHARS) return { type, data };
        const hash = sha256(data);
        const parts = partsOf(data);
        for (const [index, part] of parts.entries()) {
            const key = `b/${name(thread)}/${hash}/${index}`;
            if (!this.#known.has(key)) facts.push([key, part]);
        }
        return { type, hash, parts: parts.length };
    }

    async #load(thread: string, packed: Packed): Promise<unknown> {
        let data = packed.data;
        if (data === undefined) {
            const keys = Array.from({ length: packed.parts ?? 0 },
                (_, index) => `b/${name(thread)}/${packed.hash}/${index}`);
            const parts = await Promise.all(keys.map((key) => this.#facts.get(key)));
            if (!parts.every((part) => typeof part === "string")) {
                throw new Error(`thread ${thread}: a part of the value ${packed.hash} is missing`);
            }
            data = parts.join("");
        }
        return this.serde.loadsTyped(packed.type,
            packed.type === "json" ? data : new Uint8Array(Buffer.from(data, "base64")));
    }

    async #write(facts: readonly [string, unknown][]): Promise<void> {
        await this.#facts.write(facts);
        if (this.#known.size > KNOWN_MAX) this.#known.clear();
        for (const [key] of facts) if (key.startsWith("b/")) this.#known.add(key);
    }
}

function threadOf(config: Config, what: string): string {
    const thread = config.configurable?.["thread_id"] as string | undefined;
    if (thread === undefined || thread === "") {
        throw new Error(`the config of ${what} has no "thread_id" in "configurable"`);
    }
    return thread;
}

function configOf(thread: string, ns: string, id: string): Config {
    return { configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } };
}

// ---- The store

interface StoredItem {
    namespace: string[];
    key: string;
    value: Record<string, unknown>;
    created_at: string;
    updated_at: string;
}

function prefixOf(namespace: readonly string[]): string {
    return `s/${namespace.map((each) => `${encodeURIComponent(each)}/`).join("")}`;
}

/** "=" is escaped in names of namespaces, so a key cannot be one of them. */
function keyOf(namespace: readonly string[], key: string): string {
    return `${prefixOf(namespace)}=${encodeURIComponent(key)}`;
}

function itemOf(stored: StoredItem): Item {
    return {
        namespace: stored.namespace,
        key: stored.key,
        value: stored.value,
        createdAt: new Date(stored.created_at),
        updatedAt: new Date(stored.updated_at),
    };
}

/** The strings in a value, in order. */
function stringsOf(value: unknown): string[] {
    if (typeof value === "string") return [value];
    if (value === null || typeof value !== "object") return [];
    return Object.values(value).flatMap(stringsOf);
}

const COMPARE: Record<string, (one: any, other: any) => boolean> = {
    $eq: (one, other) => one === other,
    $ne: (one, other) => one !== other,
    $gt: (one, other) => one > other,
    $gte: (one, other) => one >= other,
    $lt: (one, other) => one < other,
    $lte: (one, other) => one <= other,
};

function isMatch(value: unknown, wanted: unknown): boolean {
    if (wanted === null || typeof wanted !== "object") return value === wanted;
    const rules = Object.entries(wanted);
    if (rules.length === 0 || !rules.every(([rule]) => rule.startsWith("$"))) {
        return JSON.stringify(value) === JSON.stringify(wanted);
    }
    return rules.every(([rule, other]) => {
        const compare = COMPARE[rule];
        if (compare === undefined) throw new Error(`there is no filter operator ${rule}`);
        return compare(value, other);
    });
}

function isInNamespace(condition: MatchCondition, namespace: readonly string[]): boolean {
    const { path, matchType } = condition;
    if (path.length > namespace.length) return false;
    const start = matchType === "prefix" ? 0 : namespace.length - path.length;
    return path.every((each, index) => each === "*" || each === namespace[start + index]);
}

/** A LangGraph store. `query` finds items by words and, if loci has an embedder, by meaning. */
export class LociStore extends BaseStore {
    readonly #loci: Loci;
    readonly #facts: Facts;
    readonly #userId: string;

    constructor(loci: Loci, options: Pick<LangGraphOptions, "userId"> = {}) {
        super();
        this.#loci = loci;
        this.#userId = options.userId ?? "langgraph";
        this.#facts = new Facts(loci, this.#userId);
    }

    /** Runs operations in order; they are not one transaction. */
    async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
        const results: unknown[] = [];
        for (const operation of operations) {
            if ("namespacePrefix" in operation) results.push(await this.#search(operation));
            else if ("value" in operation) results.push(await this.#put(operation));
            else if ("key" in operation) {
                const stored = await this.#facts.get(keyOf(operation.namespace, operation.key));
                results.push(stored ? itemOf(stored as StoredItem) : null);
            } else results.push(await this.#listNamespaces(operation));
        }
        return results as OperationResults<Op>;
    }

    async #put({ namespace, key, value, index }: PutOperation): Promise<void> {
        const fact = keyOf(namespace, key);
        const item = sha256(fact);
        const former = await this.#facts.get(fact) as StoredItem | null | undefined;
        if (value === null) {
            if (!former) return;
            await this.#facts.forget([fact]);
            await this.#loci.memory.forget({ metadata: { item }, user_id: this.#userId });
            return;
        }
        const now = new Date().toISOString();
        const stored: StoredItem = {
            namespace, key, value, created_at: former?.created_at ?? now, updated_at: now };
        await this.#facts.write([[fact, stored]]);
        const texts = index === false ? []
            : index?.flatMap((path) => getTextAtPath(value, path)) ?? stringsOf(value);
        if (former) await this.#loci.memory.forget({ metadata: { item }, user_id: this.#userId });
        if (texts.join("").trim() === "") return;
        const prefixes = namespace.map((_, depth) =>
            [`p${depth + 1}`, sha256(prefixOf(namespace.slice(0, depth + 1)))]);
        await this.#loci.memory.store({
            text: texts.join("\n"),
            type: "project",
            // The item is the subject: equal or similar texts of other items replace nothing.
            entity_refs: [`item:${item.slice(0, 32)}`],
            attribute: "text",
            metadata: { item, fact, ...Object.fromEntries(prefixes) },
            user_id: this.#userId,
        });
    }

    async #search(operation: SearchOperation): Promise<SearchItem[]> {
        const { namespacePrefix, filter, query, limit = 10, offset = 0 } = operation;
        const isWanted = (stored: StoredItem): boolean => Object.entries(filter ?? {})
            .every(([member, wanted]) => isMatch(stored.value[member], wanted));
        const found: SearchItem[] = [];
        if (limit <= 0) return found;
        for await (const [stored, score] of this.#candidates(namespacePrefix, query)) {
            if (!isWanted(stored)) continue;
            found.push(score === undefined ? itemOf(stored) : { ...itemOf(stored), score });
            if (found.length >= offset + limit) break;
        }
        return found.slice(offset);
    }

    async *#candidates(
        namespace: readonly string[], query: string | undefined,
    ): AsyncGenerator<[StoredItem, number | undefined], void, undefined> {
        if (!query) {
            for await (const fact of this.#facts.list(prefixOf(namespace))) {
                yield [fact.value as unknown as StoredItem, undefined];
            }
            return;
        }
        const hits = this.#loci.memory.recallAll({
            query,
            user_id: this.#userId,
            metadata: namespace.length === 0 ? undefined
                : { [`p${namespace.length}`]: sha256(prefixOf(namespace)) },
        });
        for await (const hit of hits) {
            const fact = hit.metadata?.["fact"];
            if (typeof fact !== "string") continue;
            const stored = await this.#facts.get(fact);
            if (stored) yield [stored as StoredItem, hit.score];
        }
    }

    async #listNamespaces(operation: ListNamespacesOperation): Promise<string[][]> {
        const { matchConditions = [], maxDepth, limit, offset } = operation;
        const found = new Map<string, string[]>();
        for await (const fact of this.#facts.list("s/")) {
            const { namespace } = fact.value as unknown as StoredItem;
            if (!matchConditions.every((each) => isInNamespace(each, namespace))) continue;
            const cut = namespace.slice(0, maxDepth);
            found.set(prefixOf(cut), cut);
        }
        return [...found.values()].slice(offset, offset + limit);
    }
}
