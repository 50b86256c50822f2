//! A column being gathered: values side by side, and which rows have none.

use bytes::Bytes;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result;

/// What a column holds, and whether every row has a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub name: &'static str,
    pub kind: Kind,
    pub is_required: bool,
    pub has_bloom: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// Text that hardly ever repeats: no dictionary is tried.
    LongText,
    Bytes,
    Bool,
    Short,
    Int,
    Long,
    Float,
    /// Microseconds since 1970.
    Moment,
}

impl Column {
    pub(super) const fn required(name: &'static str, kind: Kind) -> Column {
        Column { name, kind, is_required: true, has_bloom: false }
    }

    pub(super) const fn optional(name: &'static str, kind: Kind) -> Column {
        Column { name, kind, is_required: false, has_bloom: false }
    }

    pub(super) const fn with_bloom(self) -> Column {
        Column { has_bloom: true, ..self }
    }

    /// As a schema has it.
    pub(super) fn schema(&self) -> String {
        let kind = match self.kind {
            Kind::Text | Kind::LongText => return self.line("BYTE_ARRAY", " (STRING)"),
            Kind::Bytes => "BYTE_ARRAY",
            Kind::Bool => "BOOLEAN",
            Kind::Short => return self.line("INT32", " (INTEGER(16,true))"),
            Kind::Int => "INT32",
            Kind::Long => "INT64",
            Kind::Float => "FLOAT",
            Kind::Moment => return self.line("INT64", " (TIMESTAMP(MICROS,true))"),
        };
        self.line(kind, "")
    }

    fn line(&self, physical: &str, logical: &str) -> String {
        let repetition = if self.is_required { "REQUIRED" } else { "OPTIONAL" };
        format!("{repetition} {physical} {}{logical};\n", self.name)
    }
}

/// One value of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'v> {
    Null,
    Text(&'v str),
    Bytes(&'v [u8]),
    Bool(bool),
    Int(i32),
    Long(i64),
    Float(f32),
}

impl<'v> From<&'v str> for Value<'v> {
    fn from(text: &'v str) -> Value<'v> {
        Value::Text(text)
    }
}

impl<'v> From<Option<&'v str>> for Value<'v> {
    fn from(text: Option<&'v str>) -> Value<'v> {
        text.map_or(Value::Null, Value::Text)
    }
}

impl<'v> From<&'v Option<String>> for Value<'v> {
    fn from(text: &'v Option<String>) -> Value<'v> {
        Value::from(text.as_deref())
    }
}

impl From<Option<f32>> for Value<'_> {
    fn from(number: Option<f32>) -> Self {
        number.map_or(Value::Null, Value::Float)
    }
}

impl From<Option<i32>> for Value<'_> {
    fn from(number: Option<i32>) -> Self {
        number.map_or(Value::Null, Value::Int)
    }
}

/// The values of a row group.
pub(super) struct Gathered {
    column: Column,
    values: Values,
    /// 1 where a row has a value, 0 where it has none.
    levels: Vec<i16>,
}

enum Values {
    Bytes { data: Vec<u8>, ends: Vec<usize> },
    Bool(Vec<bool>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
}

impl Gathered {
    pub(super) fn new(column: Column) -> Gathered {
        let values = match column.kind {
            Kind::Text | Kind::LongText | Kind::Bytes => {
                Values::Bytes { data: Vec::new(), ends: Vec::new() }
            }
            Kind::Bool => Values::Bool(Vec::new()),
            Kind::Short | Kind::Int => Values::Int(Vec::new()),
            Kind::Long | Kind::Moment => Values::Long(Vec::new()),
            Kind::Float => Values::Float(Vec::new()),
        };
        Gathered { column, values, levels: Vec::new() }
    }

    /// Adds a row's value; the bytes it takes.
    pub(super) fn push(&mut self, value: Value<'_>) -> usize {
        if let Value::Null = value {
            assert!(!self.column.is_required, "{}: every row has one", self.column.name);
            self.levels.push(0);
            return 2;
        }
        self.levels.push(1);
        match (&mut self.values, value) {
            (Values::Bytes { data, ends }, Value::Text(text)) => {
                extend(data, ends, text.as_bytes())
            }
            (Values::Bytes { data, ends }, Value::Bytes(bytes)) => extend(data, ends, bytes),
            (Values::Bool(values), Value::Bool(value)) => values.push(value),
            (Values::Int(values), Value::Int(value)) => values.push(value),
            (Values::Long(values), Value::Long(value)) => values.push(value),
            (Values::Float(values), Value::Float(value)) => values.push(value),
            (_, value) => panic!("{} does not hold {value:?}", self.column.name),
        }
        match value {
            Value::Text(text) => text.len() + 10,
            Value::Bytes(bytes) => bytes.len() + 10,
            _ => 10,
        }
    }

    /// Writes the values and forgets them.
    pub(super) fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        let levels = std::mem::take(&mut self.levels);
        let levels = (!self.column.is_required).then_some(levels.as_slice());
        match (&mut self.values, writer) {
            (Values::Bytes { data, ends }, ColumnWriter::ByteArrayColumnWriter(writer)) => {
                let shared = Bytes::from(std::mem::take(data));
                let mut start = 0;
                let values: Vec<ByteArray> = ends
                    .drain(..)
                    .map(|end| {
                        let value = shared.slice(start..end);
                        start = end;
                        ByteArray::from(value)
                    })
                    .collect();
                writer.write_batch(&values, levels, None)?;
            }
            (Values::Bool(values), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            (Values::Int(values), ColumnWriter::Int32ColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            (Values::Long(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            (Values::Float(values), ColumnWriter::FloatColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            _ => panic!("{} is written as something else", self.column.name),
        }
        Ok(())
    }
}

fn extend(data: &mut Vec<u8>, ends: &mut Vec<usize>, bytes: &[u8]) {
    data.extend_from_slice(bytes);
    ends.push(data.len());
}
