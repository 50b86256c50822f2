use std::process::ExitCode;

fn main() -> ExitCode {
    rhumb::cli::run(std::env::args_os())
}
