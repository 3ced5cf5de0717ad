// graph.js - a drawing of things and the links between them. Nodes are links of the page: a click
// or Enter opens one. The drawing is one stop of the Tab key; arrow keys move between its nodes.
//
// Layouts are computed at once by d3-force and never animated, so they are the same with reduced
// motion, and equal things give equal drawings.
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

// nodes: {id, x, y, r, href, look, symbol, name, title}. links: {source, target, title}, both ends
// nodes. `below` is drawn first. `current` is the id of the node that Tab reaches.
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
    // A line with an arrow ends at the border of the circle.
    const end = ({ source, target }) => {
        const [x, y] = [target.x - source.x, target.y - source.y];
        const share = isDirected ? 1 - (target.r + 3) / Math.max(1, Math.hypot(x, y)) : 1;
        return { x2: source.x + x * share, y2: source.y + y * share };
    };
    return (
        <svg ref={svg} role="group" aria-label={label} {...{ width, height }} onKeyDown={move}>
            {isDirected && (
                <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" orient="auto">
                    <path class="arrow" d="M0 0L8 4L0 8z" />
                </marker>
            )}
            {below}
            {links.map((l) => (
                <line
                    class="link"
                    x1={l.source.x}
                    y1={l.source.y}
                    {...end(l)}
                    marker-end={isDirected ? "url(#arrow)" : undefined}
                >
                    {l.title && <title>{l.title}</title>}
                </line>
            ))}
            {nodes.map((n) => (
                <a
                    key={n.id}
                    class={`node ${n.look}`}
                    data-node={n.id}
                    href={n.href}
                    aria-label={n.title}
                    aria-current={n.id === current ? "true" : undefined}
                    tabIndex={n === stop ? 0 : -1}
                    onFocus={() => setAt(n.id)}
                >
                    <title>{n.title}</title>
                    <circle cx={n.x} cy={n.y} r={n.r} />
                    <text x={n.x} y={n.y + 4}>
                        {n.symbol}
                    </text>
                    <text class="name" x={n.x} y={n.y + n.r + 12}>
                        {n.name}
                    </text>
                </a>
            ))}
        </svg>
    );
}
