//! A table being written: rows are gathered into row groups, row groups into files.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, TypePtr};

use super::column::{Column, Gathered, Kind, Value};
use crate::ExportFailure;

/// A row group ends with this much data or so many rows.
const GROUP_BYTES_MAX: usize = 64 << 20;
const GROUP_ROWS_MAX: usize = 1_000_000;
/// Beyond this a new file is begun.
pub(super) const FILE_BYTES_MAX: u64 = 1 << 30;
const ZSTD_LEVEL: i32 = 3;

pub(super) struct Table {
    dir: PathBuf,
    columns: Vec<Gathered>,
    schema: TypePtr,
    properties: WriterPropertiesPtr,
    file: Option<(PathBuf, SerializedFileWriter<BufWriter<File>>)>,
    files: u32,
    /// In the row group that is gathered.
    rows: usize,
    bytes: usize,
    rows_written: u64,
}

impl Table {
    /// The first column is the one that rows are sorted by.
    pub(super) fn new(dir: PathBuf, columns: &[Column]) -> Table {
        let lines: String = columns.iter().map(Column::schema).collect();
        let schema = parse_message_type(&format!("message schema {{\n{lines}}}"));
        let level = ZstdLevel::try_new(ZSTD_LEVEL).expect("a level of zstd");
        let sorted = SortingColumn { column_idx: 0, descending: false, nulls_first: false };
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("rhumb {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::ZSTD(level))
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_sorting_columns(Some(vec![sorted]));
        for column in columns {
            let path = || ColumnPath::from(column.name);
            if column.has_bloom {
                properties = properties.set_column_bloom_filter_enabled(path(), true);
            }
            if column.kind == Kind::LongText {
                properties = properties
                    .set_column_dictionary_enabled(path(), false)
                    .set_column_statistics_enabled(path(), EnabledStatistics::None);
            }
        }
        Table {
            dir,
            columns: columns.iter().map(|column| Gathered::new(*column)).collect(),
            schema: Arc::new(schema.expect("our own schema")),
            properties: Arc::new(properties.build()),
            file: None,
            files: 0,
            rows: 0,
            bytes: 0,
            rows_written: 0,
        }
    }

    /// Adds a row: a value for each column.
    pub(super) fn push<'v>(
        &mut self,
        row: impl IntoIterator<Item = Value<'v>>,
    ) -> Result<(), ExportFailure> {
        let mut columns = self.columns.iter_mut();
        for value in row {
            let column = columns.next().expect("a column for each value");
            self.bytes += column.push(value);
        }
        assert!(columns.next().is_none(), "a value for each column");
        self.rows += 1;
        if self.rows >= GROUP_ROWS_MAX || self.bytes >= GROUP_BYTES_MAX {
            self.write_group()?;
        }
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), ExportFailure> {
        let (path, mut writer) = match self.file.take() {
            Some(file) => file,
            None => self.begin_file()?,
        };
        let failed = |error: ParquetError| failure(&path, &error);
        let mut group = writer.next_row_group().map_err(failed)?;
        let mut columns = self.columns.iter_mut();
        while let Some(mut column) = group.next_column().map_err(failed)? {
            let gathered = columns.next().expect("as many columns as the schema has");
            gathered.write(column.untyped()).map_err(failed)?;
            column.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        self.rows_written += self.rows as u64;
        (self.rows, self.bytes) = (0, 0);
        if writer.bytes_written() as u64 >= FILE_BYTES_MAX {
            writer.close().map_err(failed)?;
        } else {
            self.file = Some((path, writer));
        }
        Ok(())
    }

    fn begin_file(
        &mut self,
    ) -> Result<(PathBuf, SerializedFileWriter<BufWriter<File>>), ExportFailure> {
        let path = self.dir.join(format!("part-{:05}.parquet", self.files));
        self.files += 1;
        let file = File::create_new(&path);
        let file =
            BufWriter::new(file.map_err(|error| ExportFailure::file(&path, "create", &error))?);
        let (schema, properties) = (Arc::clone(&self.schema), Arc::clone(&self.properties));
        let writer = SerializedFileWriter::new(file, schema, properties);
        let writer = writer.map_err(|error| failure(&path, &error))?;
        Ok((path, writer))
    }

    /// Writes what is left; how many rows there are. A table without rows has one file, too: it
    /// has the columns.
    pub(super) fn finish(mut self) -> Result<u64, ExportFailure> {
        if self.rows > 0 {
            self.write_group()?;
        }
        if self.files == 0 {
            self.file = Some(self.begin_file()?);
        }
        if let Some((path, writer)) = self.file.take() {
            writer.close().map_err(|error| failure(&path, &error))?;
        }
        Ok(self.rows_written)
    }
}

fn failure(path: &Path, error: &ParquetError) -> ExportFailure {
    if let ParquetError::External(inner) = error
        && let Some(error) = inner.downcast_ref::<std::io::Error>()
    {
        return ExportFailure::file(path, "write", error);
    }
    ExportFailure::Failed(format!("{}: cannot write: {error}", path.display()))
}
