//! Finding the columns of a template in a header.

use sheetport_documents::nearest_of;
use sheetport_sheet::cell::column_index;
use sheetport_sheet::{RESERVED_PREFIX, column_letters};
use sheetport_values::currency;

use super::header_names::{HeaderNames, loose};
use super::model::{ColumnName, FieldRule, LINE_NUMBER, Source, Template, Unpivot, UnpivotColumns, has_line_number};

/// Maximum number of columns whose cells are separate records or lines.
const MAX_UNPIVOTED: usize = 1000;
/// Indexes from here on stand for the texts of headers.
const HEADER_TEXTS: usize = 1 << 24;

/// Returns the index for the text of a column's header.
pub(super) fn header_text(column: usize) -> usize {
    HEADER_TEXTS + column
}

/// Returns the column of a header's text, or `None` for a column.
pub(super) fn column_of_header_text(index: usize) -> Option<usize> {
    index.checked_sub(HEADER_TEXTS)
}

/// Returns the column of an index. The index may stand for the text of the column's header.
pub fn own_column(index: usize) -> usize {
    column_of_header_text(index).unwrap_or(index)
}

/// The columns of a rule, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Columns {
    /// For constants, and for missing optional columns.
    None,
    One(usize),
    /// In the order of the rule; `None` for missing optional columns.
    Several(Vec<Option<usize>>),
}

impl Columns {
    /// Returns the column to show in messages.
    pub fn first(&self) -> Option<usize> {
        self.iter().next().map(own_column)
    }

    /// Iterates over the columns found, and the texts of headers.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let (one, several) = match self {
            Columns::None => (None, &[][..]),
            Columns::One(index) => (Some(*index), &[][..]),
            Columns::Several(indexes) => (None, indexes.as_slice()),
        };
        one.into_iter().chain(several.iter().flatten().copied())
    }

    pub fn contains(&self, wanted: usize) -> bool {
        self.iter().any(|column| column == wanted)
    }
}

#[derive(Debug)]
pub struct MissingColumn {
    /// Name of the field, or of a key such as `skip_where`.
    pub field: String,
    pub wanted: Vec<ColumnName>,
    pub reason: Reason,
}

#[derive(Debug)]
pub enum Reason {
    Absent,
    /// Several columns have this header.
    Duplicate {
        letters: Vec<String>,
    },
    /// Two columns have usual names for the field, and different values in a row.
    Several {
        letters: [String; 2],
        row: u64,
        /// Whether it is a field of a line.
        is_line: bool,
    },
    /// More columns than a row can be unpivoted into.
    TooMany,
}

impl MissingColumn {
    /// Returns the header that is most like the wanted columns, if the column is absent.
    pub(super) fn nearest<'n>(&self, names: &'n [String]) -> Option<&'n str> {
        let words = self.wanted.iter().filter(|_| matches!(self.reason, Reason::Absent)).filter_map(ColumnName::name);
        nearest_of(words, names.iter().map(String::as_str))
    }
}

impl std::fmt::Display for MissingColumn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 5;
        let wanted: Vec<String> = self.wanted.iter().take(SHOWN).map(ToString::to_string).collect();
        if let Reason::Several { letters: [first, second], row, .. } = &self.reason {
            let (field, columns) = (&self.field, wanted.join(" and "));
            return write!(f, "{field} fits the columns {columns} ({first} and {second}), which differ in row {row}");
        }
        write!(f, "{} needs the column {}", self.field, wanted.join(" or "))?;
        if self.wanted.len() > SHOWN {
            write!(f, " or one of {} more names", self.wanted.len() - SHOWN)?;
        }
        match &self.reason {
            Reason::Absent | Reason::Several { .. } => Ok(()),
            Reason::TooMany => write!(f, ", but more than {MAX_UNPIVOTED} columns match"),
            Reason::Duplicate { letters } => write!(f, ", but several columns have this name ({})", letters.join(", ")),
        }
    }
}

/// Finds columns in a header, and collects missing columns.
pub(super) struct Finder<'h> {
    pub(super) names: &'h [String],
    headers: HeaderNames,
    /// Whether each column has exactly a name of the template, and so is no other spelling of another name.
    is_named: Vec<bool>,
    pub(super) found: usize,
    pub(super) missing: Vec<MissingColumn>,
    /// The column of the current cell of an unpivoted row.
    pub(super) cell: Option<(&'h Unpivot, usize)>,
    /// Whether the column is for an amount of money. Its header may name the currency.
    is_amount: bool,
}

impl<'h> Finder<'h> {
    pub(super) fn new(template: &Template, names: &'h [String]) -> Finder<'h> {
        let headers = HeaderNames::new(names[..own_width(names)].iter().map(String::as_str));
        let mut is_named = vec![false; names.len()];
        for wanted in template.rules().flat_map(|rule| rule.source.columns()).flatten() {
            let columns = wanted.name().map(|name| headers.exactly(name)).unwrap_or_default();
            columns.iter().for_each(|column| is_named[*column] = true);
        }
        Finder { names, headers, is_named, found: 0, missing: Vec::new(), cell: None, is_amount: false }
    }

    /// Finds the first of the wanted columns.
    pub(super) fn one(&mut self, wanted: &[ColumnName], field: &str, optional: bool) -> Option<usize> {
        let of_cell = self.cell.and_then(|(unpivot, column)| {
            let is = |name: &str| wanted.iter().any(|wanted| wanted.is_same(&ColumnName::Named(name.to_owned())));
            let header = is(&unpivot.header_as).then(|| header_text(column));
            header.or_else(|| is(&unpivot.value_as).then_some(column))
        });
        let found = of_cell.map_or_else(|| self.find(wanted), Ok);
        let found = found.or_else(|reason| match &reason {
            Reason::Absent if self.is_amount => self.with_currency(wanted).ok_or(reason),
            _ => Err(reason),
        });
        match found {
            Ok(index) => {
                self.found += 1;
                Some(index)
            }
            Err(Reason::Absent) if optional => None,
            Err(reason) => {
                self.missing.push(MissingColumn { field: field.to_owned(), wanted: wanted.to_vec(), reason });
                None
            }
        }
    }

    /// Finds the columns of a rule for the line with this number. Columns of the second and further lines can be missing.
    pub(super) fn rule(&mut self, rule: &FieldRule, line: usize) -> Columns {
        let columns = rule.source.columns();
        self.is_amount = rule.field.is_money && matches!(rule.source, Source::Column(_));
        let found = columns.iter().map(|wanted| match numbered(wanted, line) {
            wanted if wanted.is_empty() => None,
            wanted => self.one(&wanted, rule.field.name, rule.optional || line > 1),
        });
        let found: Vec<Option<usize>> = found.collect();
        self.is_amount = false;
        let mut found = found.into_iter();
        match &rule.source {
            Source::Constant(_) => Columns::None,
            Source::Column(_) => found.next().flatten().map_or(Columns::None, Columns::One),
            Source::Joined { .. } | Source::Text { .. } => Columns::Several(found.collect()),
        }
    }

    /// Returns the first of the wanted columns in the header, or else the first in another spelling. Letters count unless a header
    /// has the same text, and only without other names: `VK` is a price in a list of names, and not the 583rd column.
    fn find(&self, wanted: &[ColumnName]) -> Result<usize, Reason> {
        let one = |found: &[usize]| match found {
            [] => None,
            [index] => Some(Ok(*index)),
            several => {
                let letters = several.iter().map(|index| column_letters(*index)).collect();
                Some(Err(Reason::Duplicate { letters }))
            }
        };
        let exactly = |column: &ColumnName| match column {
            ColumnName::Number(number) => Some(Ok(number - 1)),
            ColumnName::Named(name) => one(self.headers.exactly(name)),
        };
        let loosely = |column: &ColumnName| {
            let found = self.headers.loosely(column.name()?);
            one(&found.iter().copied().filter(|index| !self.is_named[*index]).collect::<Vec<_>>())
        };
        if let Some(found) = wanted.iter().find_map(exactly).or_else(|| wanted.iter().find_map(loosely)) {
            return found;
        }
        let letters: Option<Vec<usize>> = wanted.iter().map(letters_of).collect();
        let letters = letters.into_iter().flatten().find(|index| *index < self.names.len());
        letters.ok_or(Reason::Absent)
    }

    /// Finds the only column with one of the wanted names and a currency: `Price (EUR)` for `Price`.
    fn with_currency(&self, wanted: &[ColumnName]) -> Option<usize> {
        let own = own_width(self.names);
        let plain: Vec<Option<String>> =
            self.names[..own].iter().map(|name| currency::without_currency(name)).collect();
        if plain.iter().all(Option::is_none) {
            return None;
        }
        wanted.iter().find_map(|wanted| {
            let ColumnName::Named(name) = wanted else { return None };
            let name = loose(name);
            let mut found = (0..own).filter(|index| plain[*index].as_ref().is_some_and(|plain| loose(plain) == name));
            let first = found.next()?;
            found.next().is_none().then_some(first)
        })
    }

    /// Finds the columns whose cells are separate records or lines.
    pub(super) fn unpivoted(&mut self, unpivot: &Unpivot) -> Vec<usize> {
        let own = own_width(self.names);
        let columns: Vec<usize> = match &unpivot.columns {
            UnpivotColumns::Named(columns) => {
                columns.iter().filter_map(|wanted| self.one(wanted, "unpivot", unpivot.optional)).collect()
            }
            UnpivotColumns::Matching(pattern) => {
                (0..own).filter(|index| pattern.is_match(self.names[*index].trim())).collect()
            }
        };
        let wanted = match &unpivot.columns {
            UnpivotColumns::Named(_) => Vec::new(),
            UnpivotColumns::Matching(pattern) => vec![ColumnName::Named(pattern.to_string())],
        };
        let is_missing = columns.is_empty() && !unpivot.optional && self.missing.is_empty();
        let repeated = columns.iter().find_map(|column| {
            let same = self.headers.exactly(&self.names[*column]).iter().copied();
            let same: Vec<usize> = same.filter(|other| columns.contains(other)).collect();
            (same.len() > 1).then_some((*column, same))
        });
        let reason = match repeated {
            _ if columns.len() > MAX_UNPIVOTED => Some((wanted, Reason::TooMany)),
            Some((column, same)) => {
                let letters = same.into_iter().map(column_letters).collect();
                Some((vec![ColumnName::Named(self.names[column].clone())], Reason::Duplicate { letters }))
            }
            None if is_missing => Some((wanted, Reason::Absent)),
            None => None,
        };
        self.missing.extend(reason.map(|(wanted, reason)| MissingColumn {
            field: "unpivot".to_owned(),
            wanted,
            reason,
        }));
        columns
    }
}

/// Returns the number of columns before the report's own columns.
pub(super) fn own_width(names: &[String]) -> usize {
    names.iter().position(|name| name.starts_with(RESERVED_PREFIX)).unwrap_or(names.len())
}

/// Returns the names of a column for a line. All lines share a column without a number. If other names have a number, a name
/// without a number belongs to the first line.
fn numbered(wanted: &[ColumnName], number: usize) -> Vec<ColumnName> {
    if !has_line_number(wanted) {
        return wanted.to_vec();
    }
    let name = |column: &ColumnName| match column {
        ColumnName::Named(name) if name.contains(LINE_NUMBER) => {
            Some(ColumnName::Named(name.replace(LINE_NUMBER, &number.to_string())))
        }
        column => (number == 1).then(|| column.clone()),
    };
    wanted.iter().filter_map(name).collect()
}

/// Returns the column with a name of letters.
fn letters_of(column: &ColumnName) -> Option<usize> {
    column.name().and_then(column_index)
}
