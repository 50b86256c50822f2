//! Files that appear whole or not at all: written beside their name, renamed at the end.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::Failure;

const BUFFER_BYTES: usize = 256 << 10;

pub struct Output {
    path: PathBuf,
    part: Option<PathBuf>,
    writer: BufWriter<Box<dyn Write>>,
}

impl Output {
    /// `-` is standard output.
    pub fn create(path: &Path) -> Result<Output, Failure> {
        let (part, writer): (_, Box<dyn Write>) = if path == Path::new("-") {
            (None, Box::new(io::stdout()))
        } else {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(".part");
            let part = path.with_file_name(name);
            let file = File::create(&part).map_err(|error| failure(path, &error))?;
            (Some(part), Box::new(file))
        };
        let writer = BufWriter::with_capacity(BUFFER_BYTES, writer);
        Ok(Output { path: path.to_owned(), part, writer })
    }

    /// One line of fields with tabs between them.
    pub fn line(&mut self, fields: &[&str]) -> Result<(), Failure> {
        let written = self.write_line(fields);
        written.map_err(|error| failure(&self.path, &error))
    }

    fn write_line(&mut self, fields: &[&str]) -> io::Result<()> {
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                self.writer.write_all(b"\t")?;
            }
            if field.contains(['\t', '\n', '\r']) {
                let safe = field.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r");
                self.writer.write_all(safe.as_bytes())?;
            } else {
                self.writer.write_all(field.as_bytes())?;
            }
        }
        self.writer.write_all(b"\n")
    }

    /// All is written: the file gets its name.
    pub fn finish(mut self) -> Result<(), Failure> {
        let renamed = self.writer.flush().and_then(|()| match &self.part {
            Some(part) => fs::rename(part, &self.path),
            None => Ok(()),
        });
        renamed.map_err(|error| failure(&self.path, &error))?;
        self.part = None;
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            // Of something that failed already: nothing more can be done about it.
            let _ = fs::remove_file(part);
        }
    }
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure(format!("{}: {error}", path.display()))
}
