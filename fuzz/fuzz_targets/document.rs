#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code, reason = "each target runs one of the checks")]
mod checks;

// The PDF library panics and is caught; libFuzzer's own hook would end the process before that. A
// panic that nobody catches is still found.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| ())),
    |data: &[u8]| checks::document(data)
);
