// Writes a fact, reads it back and shows an error, from Rust.
//     rustc state.rs $(pkg-config --libs-only-L loci) -l loci && ./state agent.db
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};
use std::ptr;

#[link(name = "loci")]
extern "C" {
    fn loci_open_text(store: *const c_char, settings: *const c_char, error: *mut *mut c_char) -> *mut c_void;
    fn loci_call_text(engine: *mut c_void, operation: *const c_char, args: *const c_char, ok: *mut c_int) -> *mut c_char;
    fn loci_text_free(text: *mut c_char);
    fn loci_close(engine: *mut c_void);
}

fn take(text: *mut c_char) -> String {
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        loci_text_free(text);
        copy
    }
}

struct Engine(*mut c_void);

impl Engine {
    fn open(store: &str) -> Result<Engine, String> {
        let store = CString::new(store).unwrap();
        let mut error = ptr::null_mut();
        let engine = unsafe { loci_open_text(store.as_ptr(), ptr::null(), &mut error) };
        if engine.is_null() { Err(take(error)) } else { Ok(Engine(engine)) }
    }

    fn call(&self, operation: &str, args: &str) -> Result<String, String> {
        let (operation, args) = (CString::new(operation).unwrap(), CString::new(args).unwrap());
        let mut ok = 0;
        let text = unsafe { take(loci_call_text(self.0, operation.as_ptr(), args.as_ptr(), &mut ok)) };
        if ok != 0 { Ok(text) } else { Err(text) }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        unsafe { loci_close(self.0) }
    }
}

fn main() {
    let store = std::env::args().nth(1).unwrap_or_else(|| "agent.db".into());
    let engine = Engine::open(&store).expect("open");
    engine.call("fact.write", r#"{"key":"city","value":"Oslo"}"#).expect("write");
    println!("{}", engine.call("fact.current", r#"{"key":"city"}"#).expect("read"));
    println!("{}", engine.call("fact.write", "{}").unwrap_err());
}
