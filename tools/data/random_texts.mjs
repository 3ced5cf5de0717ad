// random_texts.mjs - texts that are hard to split, the same in every run; tests/unit/text makes the
// same ones in C (random_text.h), so a change here is a change there.

// xorshift, 32 bits.
function generator(seed) {
    let state = seed;
    return () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return (state >>>= 0);
    };
}

const FRAGMENTS = ["'s", "'T", "'ll", "'RE", "'ſ", "don't", " ", "  ", "\n", "\r\n", "\t",
                   " \n ", "/", "//", "...", "123", "4567", "the", " The", "HTTP", "camelCase",
                   "ß", "é", "e\u0301",
                   "中文", "かな", "한국", "привет", "مرحبا", "हिन्दी", "😀",
                   "👩‍👧", "\u00a0",
                   "\u3000", "<|endoftext|>", "{\"a\":", "=> ", "ǅ", "ª", "Ⅷ", "\u0300A"];

// Where most assigned characters lie; all of Unicode now and then.
const RANGES = [[0x20, 0x7e], [0xa0, 0x24f], [0x300, 0x52f], [0x590, 0x6ff], [0x900, 0xdff],
                [0x1e00, 0x20cf], [0x3040, 0x30ff], [0x4e00, 0x9fff], [0xac00, 0xd7a3],
                [0x10000, 0x1ffff], [0, 0x10ffff]];

function codePoint(next) {
    const [low, high] = RANGES[next() % RANGES.length];
    const value = low + next() % (high - low + 1);
    return value >= 0xd800 && value <= 0xdfff ? 0xfffd : value;
}

export function randomTexts(count) {
    const next = generator(2463534242);
    return Array.from({ length: count }, () => {
        const parts = 1 + next() % 24;
        let text = "";
        for (let i = 0; i < parts; i++) {
            text += next() % 2 === 0 ? FRAGMENTS[next() % FRAGMENTS.length]
                                     : String.fromCodePoint(codePoint(next));
        }
        return text;
    });
}
