//! A crawl's whole files as a directory that every other command reads.

use crate::database::folder;
use crate::objects::Objects;
use crate::pieces::{CDXJ, WARC, pieces};
use rhumb_engine::error::{Error, ErrorKind};
use std::collections::BTreeSet;
use std::path::Path;

/// Memory for sorting index lines.
const SORT_BYTES: usize = 64 << 20;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportedCrawl {
    pub files: usize,
    pub bytes: u64,
}

impl Objects {
    /// The names and lengths of the WARC files that are whole.
    pub async fn whole_files(&self) -> Result<Vec<(String, u64)>, Error> {
        self.names(WARC).await
    }

    /// Whether a partition has pieces of a file that is not whole.
    pub async fn has_pieces(&self, partition: u32) -> Result<bool, Error> {
        Ok(!self.names(&pieces(partition)).await?.is_empty())
    }

    /// What is wrong with the files of a crawl of so many partitions, in words: whole files without
    /// index lines, and partitions that nobody ever opened.
    pub async fn check_files(&self, partitions: u32) -> Result<Vec<String>, Error> {
        let lines: BTreeSet<String> =
            self.names(CDXJ).await?.into_iter().map(|(name, _)| name).collect();
        let mut wrong = Vec::new();
        for (file, length) in self.whole_files().await? {
            let name = file.trim_end_matches(".warc.gz");
            if !lines.contains(&format!("{name}.cdxj")) {
                wrong.push(format!("{WARC}/{file} has no index lines"));
            }
            if length == 0 {
                wrong.push(format!("{WARC}/{file} is empty"));
            }
        }
        for partition in 0..partitions {
            if self.names(&folder(partition)).await?.is_empty() {
                wrong.push(format!("partition {partition} was never opened by a node"));
            }
        }
        Ok(wrong)
    }

    /// Writes the whole WARC files, and an index over them, into a directory as `rhumb crawl`
    /// leaves it. What is there already is not fetched again.
    pub async fn export(&self, dir: &Path) -> Result<ExportedCrawl, Error> {
        let folders = [dir.join("warc"), dir.join("index")];
        for folder in &folders {
            std::fs::create_dir_all(folder).map_err(|e| at(folder, &e))?;
        }
        let [warc, index] = folders;
        let mut exported = ExportedCrawl::default();
        for (file, length) in self.whole_files().await? {
            exported.files += 1;
            exported.bytes += length;
            let path = warc.join(&file);
            if std::fs::metadata(&path).is_ok_and(|meta| meta.len() == length) {
                continue;
            }
            let name = file.trim_end_matches(".warc.gz");
            let lines = self.get(&format!("{CDXJ}/{name}.cdxj")).await?;
            let part = index.join(format!("{name}.part"));
            // The file first: lines may not speak of what is not there.
            self.get_file(&format!("{WARC}/{file}"), &path).await?;
            if let Some(lines) = lines {
                std::fs::write(&part, lines).map_err(|e| at(&part, &e))?;
            }
        }
        let dir = dir.to_owned();
        // Lines of files that were fetched now come to those that are there.
        let work = move || rhumb_archive::write_index(&dir, SORT_BYTES);
        let indexed = tokio::task::spawn_blocking(work).await;
        let failed = |e: String| Error::new(ErrorKind::Retry, e);
        indexed.map_err(|e| failed(e.to_string()))?.map_err(|e| failed(e.to_string()))?;
        Ok(exported)
    }
}

fn at(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("{}: {error}", path.display()))
}
