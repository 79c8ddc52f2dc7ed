//! The writer of Parquet files: rows are collected by column, and written as a row group once they fill some mebibytes.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::error::Error;
use crate::exact::Exact;
use crate::kind::{Column, Kind, SHORT_DIGITS, Value};
use crate::moment::micros;

/// Whether this executable writes Parquet files.
pub const HAS_PARQUET: bool = true;

/// Maximum size of the values of a row group in memory, in bytes: with the hashes of a million records, an export stays below 128 MiB.
const MAX_ROW_GROUP: usize = if cfg!(test) { 4 << 10 } else { 8 << 20 };
/// The values of a column given to the encoder at once: encoded texts are kept until the end of a batch.
const BATCH: usize = 4_096;
/// Fast, and smaller than any level of gzip.
const ZSTD_LEVEL: i32 = 3;
/// Bytes of a decimal of 38 digits.
const LONG_DECIMAL: i32 = 16;
/// Present and missing values, as definition levels.
const PRESENT: i16 = 1;
const MISSING: i16 = 0;

/// A table under construction.
pub struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Collected>,
    /// Size of the collected values.
    bytes: usize,
    rows: usize,
}

/// The collected values of a column.
struct Collected {
    name: String,
    kind: Kind,
    /// Whether each row has a value.
    levels: Vec<i16>,
    values: Values,
}

enum Values {
    /// Whole numbers, times and short decimals.
    Short(Vec<i64>),
    Long(Vec<i128>),
    Booleans(Vec<bool>),
    /// All texts, and where each of them ends.
    Texts(Vec<u8>, Vec<usize>),
}

impl<W: Write + Send> ParquetTable<W> {
    /// Begins a table with these columns.
    pub fn create(sink: W, columns: &[Column]) -> Result<ParquetTable<W>, Error> {
        let fields = columns.iter().map(field).collect::<Result<_, _>>().map_err(failed)?;
        let schema = Type::group_type_builder("records").with_fields(fields).build().map_err(failed)?;
        let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by(format!("sheetport {}", env!("CARGO_PKG_VERSION")))
            .build();
        let writer = SerializedFileWriter::new(sink, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
        let columns = columns.iter().map(Collected::new).collect();
        Ok(ParquetTable { writer, columns, bytes: 0, rows: 0 })
    }

    /// Adds a row with a value for each column.
    ///
    /// # Errors
    /// [`Error::Value`] if the type of a column does not hold a value.
    pub fn row(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        for (column, value) in self.columns.iter_mut().zip(values) {
            self.bytes += column
                .add(value)
                .ok_or_else(|| Error::Value { column: column.name.clone(), value: value.to_string() })?;
        }
        self.rows += 1;
        if self.bytes >= MAX_ROW_GROUP { self.flush() } else { Ok(()) }
    }

    /// Ends the table. Returns the sink, for the caller to finish.
    pub fn finish(mut self) -> Result<W, Error> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.writer.into_inner().map_err(failed)
    }

    /// Writes the collected rows as a row group.
    fn flush(&mut self) -> Result<(), Error> {
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column().map_err(failed)? else { break };
            column.write(&mut writer).map_err(failed)?;
            writer.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        (self.bytes, self.rows) = (0, 0);
        Ok(())
    }
}

impl Collected {
    fn new(column: &Column) -> Collected {
        let values = match column.kind {
            Kind::Text => Values::Texts(Vec::new(), Vec::new()),
            Kind::Boolean => Values::Booleans(Vec::new()),
            Kind::Decimal { digits, .. } if digits > SHORT_DIGITS => Values::Long(Vec::new()),
            Kind::Integer | Kind::Decimal { .. } | Kind::DateTime => Values::Short(Vec::new()),
        };
        Collected { name: column.name.clone(), kind: column.kind, levels: Vec::new(), values }
    }

    /// Adds a value. Returns its size, or `None` if the type does not hold it.
    fn add(&mut self, value: &Value<'_>) -> Option<usize> {
        if *value == Value::Null {
            self.levels.push(MISSING);
            return Some(size_of::<i16>());
        }
        let number = |scale: u8| match value {
            Value::Number(digits) => Exact::parse(digits)?.with_scale(scale),
            _ => None,
        };
        let size = match (&mut self.values, self.kind, value) {
            (Values::Texts(bytes, ends), _, Value::Text(text)) => add_text(bytes, ends, text),
            (Values::Texts(bytes, ends), _, other) => add_text(bytes, ends, &other.to_string()),
            (Values::Booleans(booleans), _, Value::Boolean(boolean)) => {
                booleans.push(*boolean);
                size_of::<bool>()
            }
            (Values::Short(numbers), Kind::DateTime, Value::Text(text)) => {
                numbers.push(micros(text)?);
                size_of::<i64>()
            }
            (Values::Short(numbers), Kind::Integer, _) => {
                numbers.push(i64::try_from(number(0)?).ok()?);
                size_of::<i64>()
            }
            (Values::Short(numbers), Kind::Decimal { scale, .. }, _) => {
                numbers.push(i64::try_from(number(scale)?).ok()?);
                size_of::<i64>()
            }
            (Values::Long(numbers), Kind::Decimal { scale, .. }, _) => {
                numbers.push(number(scale)?);
                size_of::<i128>()
            }
            _ => return None,
        };
        self.levels.push(PRESENT);
        Some(size + size_of::<i16>())
    }

    /// Writes the values in batches, and forgets them.
    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = std::mem::take(&mut self.levels);
        match &mut self.values {
            Values::Short(numbers) => {
                let numbers = std::mem::take(numbers);
                write_batches::<Int64Type>(writer, &levels, |from, to| numbers[from..to].to_vec())
            }
            Values::Booleans(booleans) => {
                let booleans = std::mem::take(booleans);
                write_batches::<BoolType>(writer, &levels, |from, to| booleans[from..to].to_vec())
            }
            Values::Long(numbers) => {
                let numbers = std::mem::take(numbers);
                let bytes = |number: &i128| FixedLenByteArray::from(number.to_be_bytes().to_vec());
                write_batches::<FixedLenByteArrayType>(writer, &levels, |from, to| {
                    numbers[from..to].iter().map(bytes).collect()
                })
            }
            Values::Texts(bytes, ends) => {
                let (bytes, ends) = (std::mem::take(bytes), std::mem::take(ends));
                let start = |place: usize| place.checked_sub(1).map_or(0, |before| ends[before]);
                let text = |place: usize| ByteArray::from(bytes[start(place)..ends[place]].to_vec());
                write_batches::<ByteArrayType>(writer, &levels, |from, to| (from..to).map(text).collect())
            }
        }
    }
}

/// Writes values in batches. `values` returns those of a range.
fn write_batches<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    levels: &[i16],
    values: impl Fn(usize, usize) -> Vec<T::T>,
) -> Result<(), ParquetError> {
    let mut from = 0;
    for levels in levels.chunks(BATCH) {
        let to = from + levels.iter().filter(|level| **level == PRESENT).count();
        writer.typed::<T>().write_batch(&values(from, to), Some(levels), None)?;
        from = to;
    }
    Ok(())
}

fn add_text(bytes: &mut Vec<u8>, ends: &mut Vec<usize>, text: &str) -> usize {
    bytes.extend_from_slice(text.as_bytes());
    ends.push(bytes.len());
    text.len() + size_of::<usize>()
}

/// Returns the field of the schema for a column.
fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match column.kind {
        Kind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Integer => (PhysicalType::INT64, None),
        Kind::Boolean => (PhysicalType::BOOLEAN, None),
        Kind::DateTime => (PhysicalType::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
        Kind::Decimal { scale, digits } => {
            let physical = match digits > SHORT_DIGITS {
                true => PhysicalType::FIXED_LEN_BYTE_ARRAY,
                false => PhysicalType::INT64,
            };
            (physical, Some(LogicalType::decimal(i32::from(scale), i32::from(digits))))
        }
    };
    let mut builder = Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical);
    if let Kind::Decimal { scale, digits } = column.kind {
        builder = builder.with_scale(i32::from(scale)).with_precision(i32::from(digits)).with_length(LONG_DECIMAL);
    }
    Ok(Arc::new(builder.build()?))
}

/// Returns an error of the library, or the error of the file below it.
fn failed(error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => Error::Write(*error),
            Err(inner) => Error::Write(io::Error::other(inner)),
        },
        error => Error::Write(io::Error::other(error)),
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;
    use crate::kind::MAX_DIGITS;

    fn column(name: &str, kind: Kind) -> Column {
        Column { name: name.to_owned(), kind }
    }

    /// Writes rows, and returns them as the library reads them, and the number of row groups.
    fn read_back(columns: &[Column], rows: &[Vec<Value<'_>>]) -> (Vec<String>, usize) {
        let mut table = ParquetTable::create(Vec::new(), columns).expect("a table");
        rows.iter().for_each(|row| table.row(row).expect("a row"));
        let bytes = bytes::Bytes::from(table.finish().expect("a file"));
        let reader = SerializedFileReader::new(bytes).expect("Parquet");
        let rows = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row").to_string()).collect();
        (rows, reader.num_row_groups())
    }

    #[test]
    fn every_type_is_read_back() {
        let columns = [
            column("id", Kind::Text),
            column("price", Kind::Decimal { scale: 2, digits: SHORT_DIGITS }),
            column("exact", Kind::Decimal { scale: 1, digits: MAX_DIGITS }),
            column("number", Kind::Integer),
            column("at", Kind::DateTime),
            column("is_new", Kind::Boolean),
        ];
        let long = "1".repeat(30);
        let first = vec![
            Value::Text("000042"),
            Value::Number("-12.5"),
            Value::Number(&long),
            Value::Number("7.0"),
            Value::Text("2026-01-02T03:04:05.123456+02:00"),
            Value::Boolean(true),
        ];
        let second = vec![Value::Number("7"), Value::Null, Value::Null, Value::Null, Value::Null, Value::Null];
        let (rows, groups) = read_back(&columns, &[first, second]);
        assert_eq!(groups, 1);
        assert_eq!(
            rows,
            [
                format!(
                    "{{id: \"000042\", price: -12.50, exact: {long}.0, number: 7, at: 2026-01-02 01:04:05.123456 +00:00, is_new: true}}"
                ),
                "{id: \"7\", price: null, exact: null, number: null, at: null, is_new: null}".to_owned()
            ]
        );
    }

    #[test]
    fn row_groups_are_bounded_and_keep_the_order() {
        let texts: Vec<String> = (0..2_000).map(|place| format!("text {place}")).collect();
        let row = |place: usize| vec![if place.is_multiple_of(7) { Value::Null } else { Value::Text(&texts[place]) }];
        let rows: Vec<Vec<Value<'_>>> = (0..texts.len()).map(row).collect();
        let (found, groups) = read_back(&[column("a", Kind::Text)], &rows);
        assert!(groups > 5, "{groups}");
        for (place, row) in found.iter().enumerate() {
            let expected = if place.is_multiple_of(7) { "null".to_owned() } else { format!("\"text {place}\"") };
            assert_eq!(*row, format!("{{a: {expected}}}"));
        }
        assert_eq!(read_back(&[column("a", Kind::Text)], &[]), (vec![], 0));
    }

    #[test]
    fn a_value_that_does_not_fit_is_refused() {
        for (kind, value) in [
            (Kind::Integer, Value::Number("1.5")),
            (Kind::Integer, Value::Text("1")),
            (Kind::Decimal { scale: 1, digits: SHORT_DIGITS }, Value::Number("1.25")),
            (Kind::DateTime, Value::Text("yesterday")),
            (Kind::Boolean, Value::Text("true")),
        ] {
            let mut table = ParquetTable::create(Vec::new(), &[column("a", kind)]).expect("a table");
            assert!(matches!(table.row(&[value]), Err(Error::Value { .. })), "{kind} {value}");
        }
    }
}
