// Writes a fact, reads it back and shows an error, from Go.
//
//	CGO_CFLAGS="$(pkg-config --cflags loci)" CGO_LDFLAGS="$(pkg-config --libs loci)" go run state.go agent.db
package main

/*
#include <stdlib.h>
#include <loci.h>
*/
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

func take(text *C.char) string {
	defer C.loci_text_free(text)
	return C.GoString(text)
}

func call(engine *C.loci_engine, operation, args string) (string, bool) {
	op, json := C.CString(operation), C.CString(args)
	defer C.free(unsafe.Pointer(op))
	defer C.free(unsafe.Pointer(json))
	var ok C.int
	return take(C.loci_call_text(engine, op, json, &ok)), ok != 0
}

func main() {
	path := "agent.db"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	store := C.CString(path)
	defer C.free(unsafe.Pointer(store))
	var failure *C.char
	engine := C.loci_open_text(store, nil, &failure)
	if engine == nil {
		fmt.Fprintln(os.Stderr, take(failure))
		os.Exit(1)
	}
	defer C.loci_close(engine)
	call(engine, "fact.write", `{"key":"city","value":"Oslo"}`)
	fact, _ := call(engine, "fact.current", `{"key":"city"}`)
	fmt.Println(fact)
	if wrong, ok := call(engine, "fact.write", "{}"); !ok {
		fmt.Println(wrong)
	}
}
