//! A template as TOML gives it: every key with its place, nothing checked but types.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserializer, Visitor};
use toml::Spanned;

use super::super::model::ColumnName;

/// The tables of a template. Everything is optional here that has a default or a better message of its own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTemplate {
    pub record: Spanned<String>,
    #[serde(default)]
    pub description: String,
    pub duplicates: Option<Spanned<String>>,
    #[serde(default)]
    pub sheet: RawSheet,
    pub group: Option<Spanned<RawGroup>>,
    #[serde(default)]
    pub fields: BTreeMap<Spanned<String>, Spanned<RawField>>,
    #[serde(default)]
    pub lines: BTreeMap<Spanned<String>, Spanned<RawField>>,
    #[serde(default)]
    pub examples: Vec<Spanned<RawExample>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSheet {
    pub name: Option<String>,
    pub index: Option<Spanned<i64>>,
    pub header: Option<Spanned<toml::Value>>,
    pub locale: Option<Spanned<String>>,
    pub time_zone: Option<Spanned<String>>,
    pub fill_down: Option<Spanned<RawFillDown>>,
    pub skip_where: Option<RawSkip>,
    pub delimiter: Option<Spanned<String>>,
    pub encoding: Option<Spanned<String>>,
    pub quote: Option<Spanned<String>>,
    pub escape: Option<Spanned<String>>,
    #[serde(default)]
    pub defused: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSkip {
    pub column: Spanned<RawColumns>,
    pub matches: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFill {
    pub columns: RawColumns,
    pub within: Option<RawColumns>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawGroup {
    pub by: Spanned<RawBy>,
    pub rows: Option<Spanned<String>>,
    pub on_blank: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawField {
    pub column: Option<Spanned<RawColumns>>,
    pub columns: Option<Spanned<RawColumns>>,
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
    pub replace: Option<RawReplaces>,
    pub split: Option<RawSplit>,
    pub map: Option<Spanned<toml::map::Map<String, toml::Value>>>,
    pub lookup: Option<Spanned<RawLookup>>,
    pub locale: Option<Spanned<String>>,
    pub percent: Option<Spanned<String>>,
    pub scale: Option<Spanned<toml::Value>>,
    pub round: Option<Spanned<i64>>,
    pub format: Option<Spanned<RawTexts>>,
    pub time_zone: Option<Spanned<String>>,
    pub allowed: Option<Spanned<Vec<String>>>,
    pub pattern: Option<Spanned<String>>,
    pub minimum: Option<Spanned<toml::Value>>,
    pub maximum: Option<Spanned<toml::Value>>,
    pub damaged: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
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
    pub file: Spanned<String>,
    pub from: Spanned<String>,
    pub to: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExample {
    pub row: Option<toml::map::Map<String, toml::Value>>,
    pub rows: Option<Vec<toml::map::Map<String, toml::Value>>>,
    pub sends: toml::map::Map<String, toml::Value>,
    pub clears: Option<Spanned<Vec<String>>>,
}

pub(super) struct RawColumn(pub ColumnName);
/// One column or several.
pub(super) struct RawColumns(pub Vec<ColumnName>);
/// One column or several, each of which may have several names.
pub(super) struct RawBy(pub Vec<Vec<ColumnName>>);
/// Columns, or columns and what they are filled within.
pub(super) struct RawFillDown(pub RawFill);
/// One text or several.
pub(super) struct RawTexts(pub Vec<String>);
/// One replacement or several.
pub(super) struct RawReplaces(pub Vec<RawReplace>);

impl<'de> Deserialize<'de> for RawColumn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct One;
        impl Visitor<'_> for One {
            type Value = RawColumn;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a column's header, its letters or its number")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<RawColumn, E> {
                if name.trim().is_empty() {
                    return Err(E::custom("a column's name can't be blank"));
                }
                Ok(RawColumn(ColumnName::Named(name.to_owned())))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<RawColumn, E> {
                match usize::try_from(number) {
                    Ok(number @ 1..=16_384) => Ok(RawColumn(ColumnName::Number(number))),
                    _ => Err(E::custom("columns are counted from 1 to 16384")),
                }
            }
        }
        deserializer.deserialize_any(One)
    }
}

impl<'de> Deserialize<'de> for RawColumns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = RawColumns;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a column, or a list of columns")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<RawColumns, E> {
                RawColumn::deserialize(StrDeserializer::new(name)).map(|column| RawColumns(vec![column.0]))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<RawColumns, E> {
                RawColumn::deserialize(de::value::I64Deserializer::new(number)).map(|column| RawColumns(vec![column.0]))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<RawColumns, A::Error> {
                let mut columns = Vec::new();
                while let Some(RawColumn(column)) = list.next_element()? {
                    columns.push(column);
                }
                if columns.is_empty() {
                    return Err(de::Error::custom("a list of columns can't be empty"));
                }
                Ok(RawColumns(columns))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

impl<'de> Deserialize<'de> for RawBy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = RawBy;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a column, or a list of columns; in a list, a list of names of one column")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<RawBy, E> {
                RawColumns::deserialize(StrDeserializer::new(name)).map(|names| RawBy(vec![names.0]))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<RawBy, E> {
                RawColumns::deserialize(de::value::I64Deserializer::new(number)).map(|names| RawBy(vec![names.0]))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<RawBy, A::Error> {
                let mut by = Vec::new();
                while let Some(RawColumns(names)) = list.next_element()? {
                    by.push(names);
                }
                if by.is_empty() {
                    return Err(de::Error::custom("a list of columns can't be empty"));
                }
                Ok(RawBy(by))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

impl<'de> Deserialize<'de> for RawFillDown {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ColumnsOrTable;
        impl<'de> Visitor<'de> for ColumnsOrTable {
            type Value = RawFillDown;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a column, a list of columns, or { columns = […], within = … }")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<RawFillDown, E> {
                let columns = RawColumns::deserialize(StrDeserializer::new(name))?;
                Ok(RawFillDown(RawFill { columns, within: None }))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<RawFillDown, A::Error> {
                let columns = RawColumns::deserialize(SeqAccessDeserializer::new(list))?;
                Ok(RawFillDown(RawFill { columns, within: None }))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<RawFillDown, A::Error> {
                RawFill::deserialize(MapAccessDeserializer::new(map)).map(RawFillDown)
            }
        }
        deserializer.deserialize_any(ColumnsOrTable)
    }
}

impl<'de> Deserialize<'de> for RawTexts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = RawTexts;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a text, or a list of texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<RawTexts, E> {
                Ok(RawTexts(vec![text.to_owned()]))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<RawTexts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(RawTexts(texts))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

impl<'de> Deserialize<'de> for RawReplaces {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = RawReplaces;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("{ pattern = …, with = … }, or a list of such")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<RawReplaces, A::Error> {
                Ok(RawReplaces(vec![RawReplace::deserialize(MapAccessDeserializer::new(map))?]))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<RawReplaces, A::Error> {
                let mut replaces = Vec::new();
                while let Some(replace) = list.next_element()? {
                    replaces.push(replace);
                }
                Ok(RawReplaces(replaces))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}
