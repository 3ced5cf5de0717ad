// Writes a fact, reads it back and shows an error, from Node.js with the npm package koffi.
//     node state.mjs agent.db        (LIBLOCI=/path/to/libloci.so if it is not on the default path)
import koffi from 'koffi';

const lib = koffi.load(process.env.LIBLOCI ?? 'libloci.so.0.1');
const free = lib.func('void loci_text_free(void *text)');
// koffi copies the text and then calls loci_text_free.
const Text = koffi.disposable('Text', 'str', free);
const outText = koffi.out(koffi.pointer(Text));
const outInt = koffi.out(koffi.pointer('int'));
const openText = lib.func('loci_open_text', 'void *', ['str', 'str', outText]);
const callText = lib.func('loci_call_text', Text, ['void *', 'str', 'str', outInt]);
const close = lib.func('void loci_close(void *engine)');

const error = [null];
const engine = openText(process.argv[2] ?? 'agent.db', null, error);
if (engine === null) throw new Error(JSON.parse(error[0]).error.message);

function call(operation, args) {
    const ok = [0];
    const answer = JSON.parse(callText(engine, operation, JSON.stringify(args), ok));

    if (!ok[0]) throw new Error(`${answer.error.code}: ${answer.error.message}`);
    return answer;
}

call('fact.write', { key: 'city', value: 'Oslo' });
console.log(JSON.stringify(call('fact.current', { key: 'city' })));
try {
    call('fact.write', {});
} catch (e) {
    console.log(e.message);
}
close(engine);
