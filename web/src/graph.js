// graph.js - a drawing of things and the links between them. Nodes are links of the page: a click
// or Enter opens one. The drawing is one stop of the Tab key; arrow keys move between its nodes.
//
// Layouts are computed at once and never animated, so they are the same with reduced motion, and
// equal things give equal drawings. Each node has a cell of its own, and its name is cut to the
// width of the cell in pixels: neither nodes nor names overlap.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

// The width of an element in pixels, 0 until it is known: [ref, width].
export function useWidth() {
    const box = useRef(null);
    const [width, setWidth] = useState(0);
    useLayoutEffect(() => {
        const observer = new ResizeObserver(([entry]) =>
            setWidth(Math.round(entry.contentRect.width)),
        );
        observer.observe(box.current);
        return () => observer.disconnect();
    }, []);
    return [box, width];
}

/* ---- Names --------------------------------------------------------------- */

const FONT = "system-ui, sans-serif";
let pen = null; // Measures texts; made by the first graph.

function widthOf(text, weight) {
    pen ??= document.createElement("canvas").getContext("2d");
    pen.font = `${weight} 11px ${FONT}`;
    return pen.measureText(text).width;
}

const CHARACTERS_MAX = 200;

// A name that is no wider than `width` pixels. A longer one loses characters in the middle if
// `isMiddle`, because names of files and keys often differ at the end, else at the end.
export function fit(name, width, { isMiddle = false, weight = 400 } = {}) {
    const all = [...name.replace(/\s+/g, " ")];
    const cut = (kept) => {
        const tail = isMiddle ? Math.floor(kept / 2) : 0;
        return [...all.slice(0, kept - tail), "…", ...(tail ? all.slice(-tail) : [])].join("");
    };
    if (all.length <= CHARACTERS_MAX && widthOf(all.join(""), weight) <= width)
        return all.join("");
    let [low, high] = [1, Math.min(all.length, CHARACTERS_MAX)];
    while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (widthOf(cut(middle), weight) <= width) low = middle;
        else high = middle - 1;
    }
    return cut(low);
}

/* ---- Moving -------------------------------------------------------------- */

const directions = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
};

// The nearest node in a direction; what lies beside it counts twice.
function nearest(nodes, from, [dx, dy]) {
    let best = null;
    let least = Infinity;
    for (const node of nodes) {
        const along = (node.x - from.x) * dx + (node.y - from.y) * dy;
        const across = Math.abs((node.x - from.x) * dy) + Math.abs((node.y - from.y) * dx);
        if (along > 1 && along + 2 * across < least) {
            least = along + 2 * across;
            best = node;
        }
    }
    return best;
}

/* ---- The drawing --------------------------------------------------------- */

// A circle with its name below it.
const Circle = ({ of: n }) => (
    <>
        <circle cx={n.x} cy={n.y} r={n.r} />
        <text x={n.x} y={n.y + 4}>
            {n.symbol}
        </text>
        <text class="name" x={n.x} y={n.y + n.r + 12}>
            {n.name}
        </text>
    </>
);

// A box with its symbol, its name, and a second line below it.
const Box = ({ of: n }) => {
    const left = n.x - n.w / 2;
    return (
        <>
            <rect x={left} y={n.y - n.h / 2} width={n.w} height={n.h} rx="6" />
            <text x={left + 12} y={n.y + 4}>
                {n.symbol}
            </text>
            <text class="name key" x={left + BOX_TEXT} y={n.y - 3}>
                {n.name}
            </text>
            <text class="name" x={left + BOX_TEXT} y={n.y + 12}>
                {n.second}
            </text>
        </>
    );
};

export const BOX_TEXT = 24; // Where the text of a box begins.

// nodes: {id, x, y, href, look, symbol, name, title} with r for a circle, or w, h and second for a
// box. links: {d, title}, d a path. `below` is drawn first. `current` is the id of the node that
// Tab reaches, and that is in sight if the drawing is wider than its place.
//
// The name of a node for screen readers is its title, not an aria-label: that would have to repeat
// the text in the drawing, which may be cut.
export function Graph({ nodes, links, width, height, label, current, isDirected, below }) {
    const svg = useRef(null);
    const [at, setAt] = useState(current);
    const stop = nodes.find((n) => n.id === at) ?? nodes.find((n) => n.id === current) ?? nodes[0];
    const move = (event) => {
        const direction = directions[event.key];
        const next = direction && nearest(nodes, stop, direction);
        if (!direction) return;
        event.preventDefault();
        if (!next) return;
        setAt(next.id);
        svg.current.querySelector(`[data-node="${CSS.escape(next.id)}"]`).focus();
    };
    useLayoutEffect(() => {
        const box = svg.current.parentElement;
        const node = nodes.find((n) => n.id === current);
        if (node && box.scrollWidth > box.clientWidth)
            box.scrollLeft = node.x - box.clientWidth / 2;
    }, [current, width, nodes.length]);
    return (
        <svg ref={svg} role="group" aria-label={label} {...{ width, height }} onKeyDown={move}>
            {isDirected && (
                <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" orient="auto">
                    <path class="arrow" d="M0 0L8 4L0 8z" />
                </marker>
            )}
            {below}
            {links.map((l) => (
                <path class="link" d={l.d} marker-end={isDirected ? "url(#arrow)" : undefined}>
                    {l.title && <title>{l.title}</title>}
                </path>
            ))}
            {nodes.map((n) => (
                <a
                    key={n.id}
                    class={`node ${n.look}`}
                    data-node={n.id}
                    href={n.href}
                    aria-current={n.id === current ? "true" : undefined}
                    tabIndex={n === stop ? 0 : -1}
                    onFocus={() => setAt(n.id)}
                >
                    <title>{n.title}</title>
                    {n.w ? <Box of={n} /> : <Circle of={n} />}
                </a>
            ))}
        </svg>
    );
}
