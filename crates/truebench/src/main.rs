//! The truebench binary. Its code is in the crate `cli`: this package is built at the level that the linker takes for all crates.

fn main() -> std::process::ExitCode {
    cli::main()
}
