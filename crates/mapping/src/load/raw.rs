//! The keys of a template and the types of values, as in the TOML.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{I64Deserializer, MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

use super::super::model::ColumnName;

/// A template. Keys with a default, or with a better error message than "missing", are optional here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTemplate {
    #[expect(dead_code, reason = "the version is checked before the other keys, of which a newer one can have more")]
    pub sheetport: Option<i64>,
    #[expect(dead_code, reason = "the extended templates are merged before")]
    pub extends: Option<String>,
    #[expect(dead_code, reason = "the parameters are inserted before")]
    #[serde(default)]
    pub parameters: BTreeMap<String, RawParameter>,
    pub record: Option<Spanned<String>>,
    #[serde(default)]
    pub record_guess: bool,
    #[serde(default)]
    pub description: String,
    pub duplicates: Option<Spanned<String>>,
    #[serde(default)]
    pub accept: Vec<Spanned<String>>,
    pub only: Option<Spanned<String>>,
    pub fill_blank: Option<Spanned<bool>>,
    pub missing: Option<Spanned<RawMissing>>,
    #[serde(default)]
    pub sheet: RawSheet,
    pub unpivot: Option<Spanned<RawUnpivot>>,
    pub group: Option<Spanned<RawGroup>>,
    #[serde(default)]
    pub fields: BTreeMap<Spanned<String>, RawField>,
    #[serde(default)]
    pub lines: BTreeMap<Spanned<String>, RawField>,
    #[serde(default)]
    pub rules: Vec<RawRule>,
    #[serde(default)]
    pub examples: Vec<Spanned<RawExample>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawParameter {
    #[expect(dead_code, reason = "the default is taken from the tree, which has the places and all digits")]
    pub default: Option<toml::Value>,
    pub description: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSheet {
    pub name: Option<String>,
    pub index: Option<Spanned<i64>>,
    pub header: Option<Spanned<toml::Value>>,
    pub locale: Option<Spanned<String>>,
    pub time_zone: Option<Spanned<String>>,
    pub currency: Option<Spanned<String>>,
    pub fill_down: Option<Spanned<FillDownColumns>>,
    pub skip_where: Option<Spanned<OneOrMany<RawRowTest>>>,
    pub keep_where: Option<Spanned<RawRowTest>>,
    pub ignored: Option<Columns>,
    pub warn_where: Option<Spanned<OneOrMany<RawRowTest>>>,
    pub delimiter: Option<Spanned<String>>,
    pub encoding: Option<Spanned<String>>,
    pub quote: Option<Spanned<String>>,
    pub escape: Option<Spanned<String>>,
    #[serde(default)]
    pub defused: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSkip {
    pub column: Option<Spanned<Columns>>,
    pub matches: Option<Spanned<String>>,
    pub condition: Option<Spanned<String>>,
    pub because: Option<String>,
    #[serde(default)]
    pub optional: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMissing {
    #[serde(default)]
    pub set: BTreeMap<Spanned<String>, Spanned<String>>,
    pub r#where: Option<Spanned<String>>,
    pub at_most: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRule {
    pub rule: Spanned<String>,
    pub severity: Option<Spanned<String>>,
    pub message: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFill {
    pub columns: Columns,
    pub within: Option<OneOrMany<Columns>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawUnpivot {
    pub columns: Option<Spanned<OneOrMany<Columns>>>,
    pub matches: Option<Spanned<String>>,
    pub header_as: Spanned<String>,
    pub value_as: Spanned<String>,
    pub zero: Option<Spanned<String>>,
    #[serde(default)]
    pub optional: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawGroup {
    pub by: Spanned<OneOrMany<Columns>>,
    pub rows: Option<Spanned<String>>,
    pub on_blank: Option<Spanned<String>>,
    #[serde(default)]
    pub guess: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawField {
    pub column: Option<Spanned<Columns>>,
    pub columns: Option<Spanned<OneOrMany<Columns>>>,
    pub join: Option<Spanned<String>>,
    pub text: Option<Spanned<String>>,
    pub value: Option<Spanned<toml::Value>>,
    #[serde(default)]
    pub optional: bool,
    #[serde(default)]
    pub trim: bool,
    pub clear: Option<Spanned<String>>,
    pub on_blank: Option<Spanned<String>>,
    pub default: Option<Spanned<toml::Value>>,
    pub replace: Option<OneOrMany<RawReplace>>,
    pub split: Option<RawSplit>,
    pub map: Option<Spanned<RawMap>>,
    pub lookup: Option<Spanned<RawLookup>>,
    pub otherwise: Option<Spanned<toml::Value>>,
    pub locale: Option<Spanned<String>>,
    pub percent: Option<Spanned<String>>,
    pub scale: Option<Spanned<toml::Value>>,
    pub round: Option<Spanned<i64>>,
    pub format: Option<Spanned<OneOrMany<String>>>,
    pub time_zone: Option<Spanned<String>>,
    pub allowed: Option<Spanned<Vec<String>>>,
    pub pattern: Option<Spanned<String>>,
    pub check: Option<Spanned<String>>,
    #[serde(default)]
    pub unique: bool,
    pub minimum: Option<Spanned<toml::Value>>,
    pub maximum: Option<Spanned<toml::Value>>,
    pub damaged: Option<Spanned<String>>,
    pub resolve: Option<Spanned<OneOrMany<String>>>,
    #[serde(default)]
    pub guess: bool,
}

/// Values in the sheet, and values to send.
pub(super) type RawMap = BTreeMap<Spanned<String>, Spanned<toml::Value>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "{ pattern = …, with = … }, or a list of such")]
pub(super) struct RawReplace {
    pub pattern: Spanned<String>,
    pub with: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSplit {
    pub at: Spanned<String>,
    pub take: Spanned<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLookup {
    pub file: Option<Spanned<String>>,
    pub sheet: Option<Spanned<String>>,
    pub from: Spanned<OneOrMany<String>>,
    pub to: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExample {
    pub row: Option<toml::map::Map<String, toml::Value>>,
    pub rows: Option<Vec<toml::map::Map<String, toml::Value>>>,
    pub sends: OneOrMany<toml::map::Map<String, toml::Value>>,
    pub clears: Option<Spanned<Vec<String>>>,
}

/// A value, or a list of values.
pub(super) struct OneOrMany<T>(pub Vec<T>);

/// A column, or a list of columns.
pub(super) type Columns = OneOrMany<RawColumn>;

/// A column's header, letters or number.
pub(super) struct RawColumn(ColumnName);

/// `skip_where`, `keep_where` and `warn_where`: a condition, or a table with a condition, or with a column and a pattern.
pub(super) enum RawRowTest {
    Condition(String),
    Table(RawSkip),
}

/// `fill_down`: columns, or a table of columns and `within`.
pub(super) struct FillDownColumns(pub RawFill);

/// Returns the names of columns.
pub(super) fn column_names(columns: Columns) -> Vec<ColumnName> {
    columns.0.into_iter().map(|RawColumn(name)| name).collect()
}

/// An element of a list.
pub(super) trait Element<'de>: Deserialize<'de> {
    const EXPECTED: &'static str;
    /// Error for an empty list, unless empty lists are allowed.
    const EMPTY: Option<&'static str> = None;
}

const NO_COLUMNS: Option<&str> = Some("a list of columns can't be empty");

impl Element<'_> for RawColumn {
    const EXPECTED: &'static str = "a column, or a list of columns";
    const EMPTY: Option<&'static str> = NO_COLUMNS;
}

impl Element<'_> for Columns {
    const EXPECTED: &'static str = "a column, or a list of columns; a list in it has several names of one column";
    const EMPTY: Option<&'static str> = NO_COLUMNS;
}

impl Element<'_> for RawRowTest {
    const EXPECTED: &'static str =
        "a condition such as 'Status == \"draft\"', or { column = …, matches = … }, or a list of such";
    const EMPTY: Option<&'static str> = Some("a list of conditions can't be empty");
}

impl Element<'_> for toml::map::Map<String, toml::Value> {
    const EXPECTED: &'static str = "a table, or a list of tables";
    const EMPTY: Option<&'static str> = Some("a list of records can't be empty");
}

impl Element<'_> for String {
    const EXPECTED: &'static str = "a text, or a list of texts";
}

impl Element<'_> for RawReplace {
    const EXPECTED: &'static str = "{ pattern = …, with = … }, or a list of such";
}

impl<'de, T: Element<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrManyVisitor<T>(PhantomData<T>);
        impl<'de, T: Element<'de>> Visitor<'de> for OneOrManyVisitor<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<OneOrMany<T>, E> {
                T::deserialize(StrDeserializer::new(text)).map(|value| OneOrMany(vec![value]))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<OneOrMany<T>, E> {
                T::deserialize(I64Deserializer::new(number)).map(|value| OneOrMany(vec![value]))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneOrMany<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|value| OneOrMany(vec![value]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OneOrMany<T>, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                match T::EMPTY {
                    Some(message) if values.is_empty() => Err(A::Error::custom(message)),
                    _ => Ok(OneOrMany(values)),
                }
            }
        }
        deserializer.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for RawColumn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ColumnVisitor;
        impl Visitor<'_> for ColumnVisitor {
            type Value = RawColumn;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a column's header, its letters or its number")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<RawColumn, E> {
                if name.trim().is_empty() {
                    return Err(E::custom("a column's name can't be blank"));
                }
                Ok(RawColumn(ColumnName::Named(name.to_owned())))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<RawColumn, E> {
                match usize::try_from(number) {
                    Ok(number @ 1..=16_384) => Ok(RawColumn(ColumnName::Number(number))),
                    _ => Err(E::custom("columns are counted from 1 to 16384")),
                }
            }
        }
        deserializer.deserialize_any(ColumnVisitor)
    }
}

impl<'de> Deserialize<'de> for FillDownColumns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FillDownVisitor;
        impl<'de> Visitor<'de> for FillDownVisitor {
            type Value = FillDownColumns;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a column, a list of columns, or { columns = […], within = … }")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<FillDownColumns, E> {
                Columns::deserialize(StrDeserializer::new(name)).map(whole_sheet)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<FillDownColumns, A::Error> {
                Columns::deserialize(SeqAccessDeserializer::new(list)).map(whole_sheet)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FillDownColumns, A::Error> {
                RawFill::deserialize(MapAccessDeserializer::new(map)).map(FillDownColumns)
            }
        }
        deserializer.deserialize_any(FillDownVisitor)
    }
}

impl<'de> Deserialize<'de> for RawRowTest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowTestVisitor;
        impl<'de> Visitor<'de> for RowTestVisitor {
            type Value = RawRowTest;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a condition such as 'Status == \"draft\"', or { column = …, matches = … }")
            }

            fn visit_str<E: Error>(self, condition: &str) -> Result<RawRowTest, E> {
                Ok(RawRowTest::Condition(condition.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawRowTest, A::Error> {
                RawSkip::deserialize(MapAccessDeserializer::new(map)).map(RawRowTest::Table)
            }
        }
        deserializer.deserialize_any(RowTestVisitor)
    }
}

fn whole_sheet(columns: Columns) -> FillDownColumns {
    FillDownColumns(RawFill { columns, within: None })
}
