// data.js - hooks that call operations for a view. A call whose arguments have changed, or whose
// view is gone, is aborted; its late answer is never shown.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { call, epoch } from "./api.js";
import { changes, hasActed, isForgetting, isReady, newestSeq } from "./live.js";
import { scoped } from "./route.js";

export const SETTLE_MS = 250; // Between a change that the stream has shown and reading it.

// The number of the newest event in the rooms ("fact", "memory"), some time after the last one.
function useNewest(rooms) {
    const newest = Math.max(0, ...rooms.map((room) => changes.value[room] || 0));
    const [settled, setSettled] = useState(newest);
    useEffect(() => {
        if (newest === settled || isForgetting.value) return undefined;
        const timer = setTimeout(() => setSettled(newest), SETTLE_MS);
        return () => clearTimeout(timer);
    }, [newest, settled, isForgetting.value]);
    return settled;
}

// One call: {data, error, isLoading, reload}. `operation` null calls nothing. The answer is read
// again when an event of `rooms` comes that is not in it, and when the daemon is back.
export function useCall(operation, args = {}, rooms = []) {
    const [state, setState] = useState({ data: null, error: null, isLoading: operation !== null });
    const [turn, setTurn] = useState(0);
    const key = JSON.stringify([operation, scoped(args)]);
    const shown = useRef("");
    const newest = useNewest(rooms);
    const included = useRef(Infinity); // Number of the last event that is surely in the answer.
    useEffect(() => {
        if (operation === null) {
            setState({ data: null, error: null, isLoading: false });
            return undefined;
        }
        const controller = new AbortController();
        const isSame = shown.current === key;
        setState((old) => ({ data: isSame ? old.data : null, error: null, isLoading: true }));
        const read = async () => {
            await isReady();
            if (controller.signal.aborted) return;
            included.current = newestSeq();
            try {
                const data = await call(operation, scoped(args), controller.signal);
                shown.current = key;
                setState({ data, error: null, isLoading: false });
            } catch (error) {
                if (error.name !== "AbortError")
                    setState((old) => ({ data: old.data, error, isLoading: false }));
            }
        };
        read();
        return () => controller.abort();
    }, [key, turn, epoch.value]);
    useEffect(() => {
        if (newest > included.current) setTurn((n) => n + 1);
    }, [newest]);
    return { ...state, reload: useCallback(() => setTurn((n) => n + 1), []) };
}

const SHOW_MS = 200; // Between two looks at a long list that is still being read.

// A list, page by page: {rows, error, isLoading, hasMore, more, reload, isStale}. Events of `rooms`
// do not move what the user looks at; they set isStale. A list that is needed as a whole (`isAll`)
// reads all of its pages; until then isLoading and hasMore are true.
export function usePages(
    operation,
    member,
    args = {},
    { rooms = [], limit = 100, isAll = false } = {},
) {
    const empty = { rows: [], cursor: null, error: null, isLoading: true, extra: {} };
    const [state, setState] = useState(empty);
    const [turn, setTurn] = useState(0);
    const key = JSON.stringify([operation, scoped(args)]);
    const controller = useRef(null);
    const newest = useNewest(rooms);
    const included = useRef(Infinity); // As in useCall, for the first page.

    const read = useCallback(
        async (cursor, old) => {
            const current = new AbortController();
            let rows = old;
            let shown = -SHOW_MS;
            controller.current = current;
            await isReady();
            if (current.signal.aborted) return;
            if (!cursor) included.current = newestSeq();
            try {
                do {
                    const page = { limit, ...scoped(args), ...(cursor ? { cursor } : {}) };
                    const data = await call(operation, page, current.signal);
                    if (current.signal.aborted) return;
                    rows = [...rows, ...data[member]];
                    cursor = data.next_cursor;
                    const isLoading = isAll && Boolean(cursor);
                    if (isLoading && performance.now() - shown < SHOW_MS) continue;
                    shown = performance.now();
                    setState({ rows, cursor, error: null, isLoading, extra: data });
                } while (isAll && cursor);
            } catch (error) {
                if (error.name !== "AbortError")
                    setState((s) => ({ ...s, error, isLoading: false }));
            }
        },
        [key],
    );

    // A layout effect runs before the browser paints, so the request does not wait for a frame.
    useLayoutEffect(() => {
        if (operation === null) {
            setState({ ...empty, isLoading: false });
            return undefined;
        }
        setState((old) => ({ ...old, error: null, isLoading: true }));
        read(null, []);
        return () => controller.current?.abort();
    }, [key, turn, epoch.value]);

    // What the user has just done is shown at once, unless that would lose the place in the list.
    const isStale = newest > included.current;
    useEffect(() => {
        if (isStale && hasActed() && state.rows.length <= limit) setTurn((n) => n + 1);
    }, [newest]);

    const more = useCallback(() => {
        if (state.isLoading || !state.cursor) return;
        setState((s) => ({ ...s, isLoading: true }));
        read(state.cursor, state.rows);
    }, [state, read]);

    return {
        ...state,
        hasMore: Boolean(state.cursor),
        more,
        isStale,
        reload: useCallback(() => setTurn((n) => n + 1), []),
    };
}

// A text that follows what is typed: at once after a pause in typing, and otherwise when no key was
// pressed for `ms` milliseconds, so that held keys do not send a request each.
export function useSettled(text, ms = 20) {
    const [settled, setSettled] = useState(text);
    const changed = useRef(0);
    useLayoutEffect(() => {
        if (text === settled) return undefined;
        const now = performance.now();
        const isFirst = now - changed.current > 2 * ms;
        changed.current = now;
        if (isFirst) {
            setSettled(text);
            return undefined;
        }
        const timer = setTimeout(() => setSettled(text), ms);
        return () => clearTimeout(timer);
    }, [text, ms]);
    return settled;
}
