//! The table of codes: the group in the documentation, the scope, the view of a supplier, and the fixes that a person is offered.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Where the cause of a finding lies, and so where it is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A value in a cell.
    Cell,
    /// A record as a whole, or its rows.
    Record,
    /// Several rows, of which one may go.
    Rows,
    /// How the file was read as rows. A report, whose rows are well-formed, does not show it: such rows are sent from a report only
    /// after an edit.
    Reading,
    /// The file, a sheet or a column.
    File,
    Template,
    /// The answers or the records of the service.
    Service,
    /// The lines that an order has in the service.
    ServiceLines,
    /// Earlier runs.
    History,
}

/// What a question holds back until a person has answered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// The record of a row.
    Row,
    /// The whole file.
    File,
}

/// What has to change in a rejected row before it is sent from a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The cell with the problem.
    Cell,
    /// Any cell of the row.
    Row,
    /// No edit is enough: the row waits for an answer.
    Answer,
}

/// What a report for a supplier shows of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupplierView {
    /// Message and remedy: they reveal nothing but the sheet and the rules of the template for its columns.
    All,
    /// The message, without the remedy, which is about the template.
    Message,
    /// Those words of the service that are in the row.
    Words,
    Nothing,
}

/// A kind of fix for all cells or rows with a problem. Any row can be left out, and any cell tidied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixKind {
    /// The allowed value with the most similar spelling.
    Nearest,
    /// The first number of the cell.
    NumberOnly,
    /// The text of the cell above.
    FillFromAbove,
    /// Zeros in front, up to the usual length.
    PadZeros,
    /// The first or the last of the rows, without the others.
    KeepOne,
}

struct Entry {
    name: &'static str,
    group: Group,
    scope: Scope,
    supplier: SupplierView,
    fixes: &'static [FixKind],
}

macro_rules! codes {
    ($($group:ident {
        $($code:ident = $name:literal, $scope:ident, $supplier:ident, [$($fix:ident),*];)*
    })*) => {
        /// Codes about the same part of an upload.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Group {
            $($group,)*
        }

        /// What is wrong, or may be. The names are stable across versions: filters, scripts and ledgers have them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($($code,)*)*
        }

        impl Group {
            /// All groups, in the order of docs/problems.md.
            pub const ALL: &[Group] = &[$(Group::$group),*];

            /// Returns the name of the variant.
            pub fn name(self) -> &'static str {
                match self {
                    $(Group::$group => stringify!($group),)*
                }
            }

            /// Returns the codes of the group.
            pub fn codes(self) -> &'static [Code] {
                match self {
                    $(Group::$group => &[$(Code::$code),*],)*
                }
            }
        }

        impl Code {
            /// All codes, by group.
            pub const ALL: &[Code] = &[$($(Code::$code),*),*];

            /// Returns the code with a name such as `not-a-number`.
            pub fn named(name: &str) -> Option<Code> {
                match name {
                    $($($name => Some(Code::$code),)*)*
                    _ => None,
                }
            }

            fn entry(self) -> Entry {
                match self {
                    $($(Code::$code => Entry {
                        name: $name,
                        group: Group::$group,
                        scope: Scope::$scope,
                        supplier: SupplierView::$supplier,
                        fixes: &[$(FixKind::$fix),*],
                    },)*)*
                }
            }
        }
    };
}

codes! {
    Cell {
        Blank = "blank", Cell, All, [FillFromAbove];
        NotANumber = "not-a-number", Cell, All, [NumberOnly];
        AmbiguousNumber = "ambiguous-number", Cell, All, [];
        NotADate = "not-a-date", Cell, All, [];
        ImplausibleDate = "implausible-date", Cell, All, [];
        AmbiguousDate = "ambiguous-date", Cell, All, [];
        NotABoolean = "not-a-boolean", Cell, All, [];
        Currency = "currency", Cell, All, [];
        PriceOfSeveral = "price-of-several", Cell, Message, [];
        OtherMeaning = "other-meaning", Cell, Message, [];
        DoesNotAddUp = "does-not-add-up", Cell, All, [];
        NegativePrice = "negative-price", Cell, All, [];
        OutOfRange = "out-of-range", Cell, All, [];
        UnknownValue = "unknown-value", Cell, All, [Nearest];
        Pattern = "pattern", Cell, All, [];
        CheckDigit = "check-digit", Cell, All, [];
        PercentSign = "percent-sign", Cell, All, [];
        CellError = "cell-error", Cell, All, [];
        NotCalculated = "not-calculated", Cell, All, [];
        Cut = "cut", Cell, All, [];
        LostLetters = "lost-letters", Cell, All, [];
        TwiceEncoded = "twice-encoded", Cell, All, [];
        WordInFormat = "word-in-format", Cell, All, [];
        OtherDecimals = "other-decimals", Cell, All, [];
        ShownByComputer = "shown-by-computer", Cell, All, [];
        Command = "command", Cell, All, [];
    }
    Identifier {
        DamagedIdentifier = "damaged-identifier", Cell, All, [];
        MarkedText = "marked-text", Cell, All, [];
        LooksLikeADate = "looks-like-a-date", Cell, All, [];
        MayLackZero = "may-lack-zero", Cell, All, [];
        LacksZeros = "lacks-zeros", Cell, All, [PadZeros];
        MayBeGrouped = "may-be-grouped", Cell, All, [];
        Apostrophe = "apostrophe", Cell, All, [];
        UnlikeOthers = "unlike-others", Cell, All, [];
        NearlyTheSame = "nearly-the-same", Cell, All, [PadZeros];
        NotAnAddress = "not-an-address", Cell, All, [];
        TurnedDate = "turned-date", Cell, All, [];
    }
    Record {
        NoRecord = "no-record", Reading, All, [];
        Selector = "selector", Record, Message, [];
        SecondTable = "second-table", Reading, All, [];
        Duplicate = "duplicate", Rows, All, [KeepOne];
        Superseded = "superseded", Record, All, [];
        CopiedRows = "copied-rows", Rows, All, [KeepOne];
        Repeated = "repeated", Rows, All, [KeepOne];
        Disagrees = "disagrees", Record, All, [];
        Scattered = "scattered", Record, All, [];
        NoGroup = "no-group", Record, All, [FillFromAbove];
        RowsBelow = "rows-below", Record, All, [];
        Continues = "continues", Record, All, [FillFromAbove];
        NoLines = "no-lines", Record, All, [];
        NoName = "no-name", Record, All, [FillFromAbove];
        Incomplete = "incomplete", Record, All, [];
        UnknownReference = "unknown-reference", Service, All, [PadZeros];
        StockNotShown = "stock-not-shown", Service, Nothing, [];
        OtherStock = "other-stock", Service, Nothing, [];
        FewerLines = "fewer-lines", ServiceLines, All, [];
        LinesSentBefore = "lines-sent-before", ServiceLines, All, [];
        LinesNotKept = "lines-not-kept", ServiceLines, All, [];
        Erased = "erased", History, Nothing, [];
    }
    Reading {
        BeyondHeader = "beyond-header", Reading, All, [];
        StrayQuote = "stray-quote", Reading, All, [];
        SwallowedRows = "swallowed-rows", Reading, All, [];
        BrokenRow = "broken-row", Reading, All, [];
        OtherDelimiter = "other-delimiter", Reading, All, [];
        UnsplitRow = "unsplit-row", Reading, All, [];
        CutOff = "cut-off", Reading, All, [];
        GuessedEncoding = "guessed-encoding", File, All, [];
    }
    Sheet {
        ForeignSheet = "foreign-sheet", Template, Nothing, [];
        OtherTemplate = "other-template", Template, Nothing, [];
        UnusedColumn = "unused-column", Template, Nothing, [];
        MoneyAsQuantity = "money-as-quantity", Template, Nothing, [];
        SeveralColumns = "several-columns", Template, Message, [];
        BlankColumn = "blank-column", File, All, [];
        Guess = "guess", Template, Nothing, [];
        MisspeltColumn = "misspelt-column", Template, Nothing, [];
        ContradictedTitle = "contradicted-title", Template, Nothing, [];
        Nameless = "nameless", Template, Nothing, [];
        HiddenRows = "hidden-rows", File, All, [];
        HiddenColumns = "hidden-columns", File, All, [];
        MergedCells = "merged-cells", File, All, [];
        HiddenSheet = "hidden-sheet", File, All, [];
        UnreadSheet = "unread-sheet", File, All, [];
        MedianChanged = "median-changed", History, Nothing, [];
        OftenBlank = "often-blank", History, Nothing, [];
        CurrencyChanged = "currency-changed", History, Nothing, [];
    }
    Template {
        Expression = "expression", Template, All, [];
        Rule = "rule", Template, All, [];
        SkipWhere = "skip-where", Template, All, [];
        WarnWhere = "warn-where", Template, All, [];
        NoSuchPart = "no-such-part", Template, All, [];
        TooMuch = "too-much", Template, Nothing, [];
    }
    LeftOut {
        KeepWhere = "keep-where", Template, Nothing, [];
        RepeatedHeader = "repeated-header", Record, All, [];
        AlreadySent = "already-sent", History, Nothing, [];
        NotChosen = "not-chosen", Record, Nothing, [];
        BlankCells = "blank-cells", Record, All, [];
        SkippedBefore = "skipped-before", History, Nothing, [];
        LeftOut = "left-out", Record, Nothing, [];
        SkipCommand = "skip-command", Record, All, [];
        NotApproved = "not-approved", Record, Nothing, [];
        KnownRecord = "known-record", Service, Nothing, [];
        NewRecord = "new-record", Service, Nothing, [];
        Filled = "filled", Service, Nothing, [];
        FieldNotShown = "field-not-shown", Service, Nothing, [];
        AsCounted = "as-counted", Service, Nothing, [];
    }
    History {
        SentBefore = "sent-before", History, Nothing, [];
        OtherContent = "other-content", History, Nothing, [];
        Edited = "edited", History, Nothing, [];
        InDoubt = "in-doubt", History, Nothing, [];
        NewerRun = "newer-run", History, Nothing, [];
        MovedOn = "moved-on", Service, Nothing, [];
        EditedSince = "edited-since", Service, Nothing, [];
        CannotUndo = "cannot-undo", Service, Nothing, [];
        NothingToUndo = "nothing-to-undo", History, Nothing, [];
        Resolved = "resolved", History, Nothing, [];
        LedgerDamaged = "ledger-damaged", History, Nothing, [];
        MadeAgain = "made-again", History, Nothing, [];
        Torn = "torn", History, Nothing, [];
        Strayed = "strayed", History, Nothing, [];
        AsItWas = "as-it-was", Reading, All, [];
        Origin = "origin", History, Nothing, [];
        NotCompared = "not-compared", Service, Nothing, [];
        ChangedText = "changed-text", Service, Nothing, [];
        RoundedNumber = "rounded-number", Service, Nothing, [];
        OtherIdentifier = "other-identifier", Service, Nothing, [];
    }
    Service {
        Unlisted = "unlisted", History, Nothing, [];
        Service = "service", Service, Words, [];
        Unsendable = "unsendable", Service, Nothing, [];
    }
}

impl Code {
    /// Returns the name, such as `not-a-number`.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    pub fn group(self) -> Group {
        self.entry().group
    }

    pub fn scope(self) -> Scope {
        self.entry().scope
    }

    /// Returns what a report for a supplier shows of such a problem.
    pub fn supplier_view(self) -> SupplierView {
        self.entry().supplier
    }

    /// Returns the fixes that a person is offered, beside those for any cell.
    pub fn fixes(self) -> &'static [FixKind] {
        self.entry().fixes
    }

    /// Returns what a finding with this code holds back until a person accepts it, because the values may be meant all the same. `None` if
    /// nobody is asked. A row with such a finding that is a warning is sent.
    pub fn asks(self) -> Option<Asks> {
        match self {
            Code::ForeignSheet
            | Code::OtherTemplate
            | Code::MisspeltColumn
            | Code::ContradictedTitle
            | Code::Nameless => Some(Asks::File),
            Code::DoesNotAddUp
            | Code::ImplausibleDate
            | Code::NoName
            | Code::OtherMeaning
            | Code::PercentSign
            | Code::Selector
            | Code::Torn
            | Code::UnlikeOthers => Some(Asks::Row),
            _ => None,
        }
    }

    /// Returns the codes of questions.
    pub fn questions() -> impl Iterator<Item = Code> {
        Code::ALL.iter().copied().filter(|code| code.asks().is_some())
    }

    /// Returns what has to change in a row that was rejected with this code before it is sent from a report, where the cause may not be seen
    /// any more: the report has texts alone, and perhaps not the other rows. `None` for problems that are found again.
    pub fn needs(self) -> Option<Edit> {
        match self {
            // What is right about one value is right in any file, or only the template and other rows decide.
            Code::Blank
            | Code::NotANumber
            | Code::NotADate
            | Code::NotABoolean
            | Code::Currency
            | Code::OutOfRange
            | Code::UnknownValue
            | Code::Pattern
            | Code::CheckDigit
            | Code::NearlyTheSame
            | Code::NotAnAddress => None,
            // Several cells are at odds, so that any of them may be the wrong one.
            Code::DoesNotAddUp | Code::OtherMeaning | Code::Continues | Code::CopiedRows | Code::Repeated => {
                Some(Edit::Row)
            }
            // It takes the place of a sent record, whatever is edited in it.
            Code::Edited => Some(Edit::Answer),
            // The cell with the problem has what belongs to others, or lacks it, whatever is edited beside it.
            Code::NoName
            | Code::Selector
            | Code::BeyondHeader
            | Code::OtherDelimiter
            | Code::UnsplitRow
            | Code::SwallowedRows => Some(Edit::Cell),
            _ => match self.scope() {
                Scope::Cell => Some(Edit::Cell),
                Scope::Reading => Some(Edit::Row),
                _ => None,
            },
        }
    }

    /// Whether each value is a cause of its own, because each needs an entry in the template.
    pub fn is_by_value(self) -> bool {
        self == Code::UnknownValue
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Reads a name. One that a later version wrote becomes [`Code::Unlisted`]: its message is shown all the same.
impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Code, D::Error> {
        let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Ok(Code::named(&name).unwrap_or(Code::Unlisted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        for code in Code::ALL {
            assert_eq!(Code::named(code.name()), Some(*code));
            assert!(code.group().codes().contains(code));
        }
        assert_eq!(Code::named("Blank"), None);
    }
}
