// check.mjs - checks of the tests of the Node.js client: is(), fails() and done().
import { isDeepStrictEqual } from "node:util";

let passed = 0;
let failed = 0;

export function is(what, expected, actual) {
    if (isDeepStrictEqual(expected, actual)) {
        passed++;
        return;
    }
    failed++;
    console.error(`FAIL ${what}\n     expected: ${JSON.stringify(expected)}` +
        `\n     actual:   ${JSON.stringify(actual)}`);
}

/** The error of a promise that must be rejected. */
export async function fails(what, promise) {
    try {
        const value = await promise;
        is(what, "an error", value);
        return {};
    } catch (error) {
        passed++;
        return error;
    }
}

export function done() {
    console.log(`${passed} passed, ${failed} failed`);
    process.exit(failed === 0 ? 0 : 1);
}
