//! `--json`: one value on standard output and nothing else there.

use std::io::Write;

use serde::Serialize;

use super::ended::Trouble;

pub fn print(out: &mut impl Write, value: &impl Serialize) -> Result<(), Trouble> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Trouble::Failed(format!("cannot be written as JSON: {error}")))?;
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}
