use std::process::ExitCode;

/// A page is some hundred small allocations made on one thread and freed on another, which the
/// system's allocator does badly (docs/lab/speed.md has the numbers).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    rhumb::cli::run(std::env::args_os())
}
