//! The tables that the build script writes, and their types.

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The code of a language, such as `de`.
pub type Language = &'static str;
/// Entries sorted by names.
pub(crate) type Table<T> = &'static [(&'static str, T)];
/// The words of a phrase, and the position of its topic.
pub(crate) type Phrase = (&'static [&'static str], usize);

/// Sorted words.
#[derive(Clone, Copy, Debug)]
pub struct WordSet(pub(crate) &'static [&'static str]);

/// The names of a kind of record.
pub struct KindWords {
    pub(crate) fields: Table<FieldWords>,
    pub(crate) lines: Table<FieldWords>,
    pub group: Option<FieldWords>,
}

/// The names of a field.
pub struct FieldWords {
    /// Its name in the API, where a column could have it.
    pub own: Option<ColumnTitle>,
    /// Names of lists of names.
    pub names: &'static [&'static str],
    /// Lists of names that often mean something else.
    pub doubtful: &'static [&'static str],
    /// Lists of names of numbers without a field, beside which a doubtful name means something else.
    pub ruled_out_by: &'static [&'static str],
    pub(crate) modifiers: &'static [&'static str],
    pub values: ValueKind,
}

/// A name of a column.
#[derive(Debug)]
pub struct ColumnTitle {
    pub text: &'static str,
    /// Probability, from 0 to 1, of a column with exactly this name being the field.
    pub certainty: f64,
    pub language: Language,
    /// The normalized words.
    pub words: &'static [&'static str],
    /// All words without spaces.
    pub joined: &'static str,
}

/// What is known of one language.
pub(crate) struct LanguageWords {
    pub(crate) code: Language,
    /// All names of columns, each as a single word.
    pub(crate) names: WordSet,
    pub(crate) yes_no: &'static [(&'static str, &'static str)],
}

/// The kind of values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Identifies the record, so each value is unique.
    Identifier,
    /// Identifies another record.
    Reference,
    Title,
    LongText,
    Currency,
    Price,
    /// Tax as a percentage.
    TaxRate,
    /// Tax as an amount of money.
    TaxAmount,
    Status,
    Date,
    /// A count, mostly in whole numbers.
    Quantity,
    Boolean,
}

/// A topic of sheets; `other_sheets.toml` explains the keys.
#[derive(Debug)]
pub struct Topic {
    /// The name of the rows, in the plural.
    pub plural: &'static str,
    /// The kinds of records that this topic is foreign to, each with fields that may still occur beside such columns.
    pub(crate) foreign_to: Table<&'static [&'static str]>,
    /// Number of such columns that makes a sheet foreign even beside these fields.
    pub certain: Option<usize>,
    /// At least one in this number of unsent columns must belong to the topic.
    pub share: usize,
}

/// Phrases, each with the position of its topic.
pub(crate) struct Phrases {
    /// Whole headers without spaces.
    pub(crate) whole: Table<&'static [usize]>,
    /// All words of a phrase, by the longest of them.
    pub(crate) words: Table<&'static [Phrase]>,
    /// Phrases in scripts without spaces.
    pub(crate) unspaced: Table<usize>,
}

/// Finds an entry of a table sorted by names.
pub(crate) fn entry<T>(table: Table<T>, name: &str) -> Option<&'static T> {
    table.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|index| &table[index].1)
}

impl WordSet {
    pub fn contains(self, word: &str) -> bool {
        self.0.binary_search(&word).is_ok()
    }

    pub fn iter(self) -> impl Iterator<Item = &'static str> + Clone {
        self.0.iter().copied()
    }
}

impl ValueKind {
    pub fn is_number(self) -> bool {
        matches!(self, ValueKind::Price | ValueKind::TaxRate | ValueKind::TaxAmount | ValueKind::Quantity)
    }
}
