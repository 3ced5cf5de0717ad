// data.js - hooks that call operations for a view. A call whose arguments have changed, or whose
// view is gone, is aborted; its late answer is never shown.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { call, epoch } from "./api.js";
import { changes, isForgetting } from "./live.js";
import { scoped } from "./route.js";

const SETTLE_MS = 250; // Between a change that the stream has shown and reading it.

// The number of changes in the rooms ("fact", "memory"), some time after the last one.
function useChanges(rooms) {
    const count = rooms.reduce((sum, room) => sum + (changes.value[room] || 0), 0);
    const [settled, setSettled] = useState(count);
    useEffect(() => {
        if (count === settled || isForgetting.value) return undefined;
        const timer = setTimeout(() => setSettled(count), SETTLE_MS);
        return () => clearTimeout(timer);
    }, [count, settled, isForgetting.value]);
    return settled;
}

// One call: {data, error, isLoading, reload}. `operation` null calls nothing. The answer is read
// again when an event of `rooms` comes, and when the daemon is back.
export function useCall(operation, args = {}, rooms = []) {
    const [state, setState] = useState({ data: null, error: null, isLoading: operation !== null });
    const [turn, setTurn] = useState(0);
    const key = JSON.stringify([operation, scoped(args)]);
    const shown = useRef("");
    const seen = useChanges(rooms);
    useEffect(() => {
        if (operation === null) {
            setState({ data: null, error: null, isLoading: false });
            return undefined;
        }
        const controller = new AbortController();
        const isSame = shown.current === key;
        setState((old) => ({ data: isSame ? old.data : null, error: null, isLoading: true }));
        call(operation, scoped(args), controller.signal).then(
            (data) => {
                shown.current = key;
                setState({ data, error: null, isLoading: false });
            },
            (error) => {
                if (error.name !== "AbortError")
                    setState((old) => ({ data: old.data, error, isLoading: false }));
            },
        );
        return () => controller.abort();
    }, [key, turn, seen, epoch.value]);
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
    const seen = useChanges(rooms);
    const loaded = useRef(seen);

    const read = useCallback(
        async (cursor, old) => {
            const current = new AbortController();
            let rows = old;
            let shown = -SHOW_MS;
            controller.current = current;
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
        loaded.current = seen;
        setState((old) => ({ ...old, error: null, isLoading: true }));
        read(null, []);
        return () => controller.current?.abort();
    }, [key, turn, epoch.value]);

    const more = useCallback(() => {
        if (state.isLoading || !state.cursor) return;
        setState((s) => ({ ...s, isLoading: true }));
        read(state.cursor, state.rows);
    }, [state, read]);

    return {
        ...state,
        hasMore: Boolean(state.cursor),
        more,
        isStale: seen !== loaded.current,
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
