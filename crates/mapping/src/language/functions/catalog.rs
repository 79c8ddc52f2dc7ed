//! The names, arguments and implementations of functions.

use std::ops::RangeInclusive;

use super::super::constant::{self, ParseConstant};
use super::super::operand::Operand;
use super::call::Call;
use super::{choice, dates, facts, numbers, texts};

/// Implements a function. The error is a message.
type Apply = for<'v> fn(Call<'v>) -> Result<Operand<'v>, String>;

/// How a function is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `Name | trim`
    Piped,
    /// `first_of(A, B)`
    Direct,
    /// `A | min(B)` or `min(A, B)`
    Either,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// An example, for messages.
    pub(crate) usage: &'static str,
    pub(crate) form: Form,
    /// Number of arguments, without the value before `|`.
    pub(crate) arguments: RangeInclusive<usize>,
    /// Parses the first argument, a constant in quotes.
    pub(crate) constant: Option<ParseConstant>,
    pub(crate) apply: Apply,
    /// Whether evaluation stops at the first value that is not blank.
    pub(crate) takes_first: bool,
    /// A synonymous name.
    synonym: Option<&'static str>,
    /// Names of the function in other languages, for suggestions.
    aliases: &'static [&'static str],
}

/// Looks up a function.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name || function.synonym == Some(name))
}

/// Looks up a function by its name in another language.
pub(crate) fn by_alias(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let function = FUNCTIONS.iter().find(|function| function.aliases.contains(&name.as_str()));
    function.map(|function| function.name)
}

const fn piped(name: &'static str, usage: &'static str, arguments: RangeInclusive<usize>, apply: Apply) -> Function {
    Function {
        name,
        usage,
        form: Form::Piped,
        arguments,
        constant: None,
        apply,
        takes_first: false,
        synonym: None,
        aliases: &[],
    }
}

const fn direct(name: &'static str, usage: &'static str, arguments: RangeInclusive<usize>, apply: Apply) -> Function {
    Function { form: Form::Direct, ..piped(name, usage, arguments, apply) }
}

const fn either(name: &'static str, usage: &'static str, arguments: RangeInclusive<usize>, apply: Apply) -> Function {
    Function { form: Form::Either, ..piped(name, usage, arguments, apply) }
}

impl Function {
    /// Takes a constant as the first argument.
    const fn with(self, constant: ParseConstant) -> Function {
        Function { constant: Some(constant), ..self }
    }

    const fn taking_first(self) -> Function {
        Function { takes_first: true, ..self }
    }

    const fn like(self, aliases: &'static [&'static str]) -> Function {
        Function { aliases, ..self }
    }

    const fn or(self, synonym: &'static str) -> Function {
        Function { synonym: Some(synonym), ..self }
    }
}

pub(crate) static FUNCTIONS: &[Function] = &[
    piped("trim", "Name | trim", 0..=0, texts::trim).like(&["strip"]),
    piped("upper", "Name | upper", 0..=0, texts::upper).like(&["uppercase", "toupper", "ucase", "capitals"]),
    piped("lower", "Name | lower", 0..=0, texts::lower).like(&["lowercase", "tolower", "lcase"]),
    piped("title", "Name | title", 0..=0, texts::title).like(&["capitalize", "proper", "titlecase"]),
    piped("replace", "Name | replace(\"ä\", \"ae\")", 2..=2, texts::replace).like(&["substitute"]),
    piped("regex_replace", "Name | regex_replace(\"[^0-9]+\", \"\")", 2..=2, texts::regex_replace)
        .with(constant::pattern)
        .like(&["re_replace", "regexreplace", "sub"]),
    piped("regex_match", "Name | regex_match(\"M[0-9]+\")", 1..=1, texts::regex_match).with(constant::pattern).like(&[
        "regexextract",
        "regex_extract",
        "extract",
        "regex_find",
    ]),
    piped("matches", "Name | matches(\"^Hex\")", 1..=1, texts::matches).with(constant::pattern).like(&[
        "match",
        "regexmatch",
        "re_match",
        "test",
    ]),
    piped("left", "Name | left(3)", 1..=1, texts::left),
    piped("right", "Name | right(3)", 1..=1, texts::right),
    piped("slice", "Name | slice(2, 5)", 1..=2, texts::slice).like(&["substring", "substr", "mid"]),
    piped("length", "Name | length", 0..=0, texts::length).like(&["len", "count", "size"]),
    piped("split", "Name | split(\"-\")[0]", 1..=1, texts::split),
    piped("join", "Name | split(\"-\") | join(\" \")", 1..=1, texts::join).like(&["concat", "textjoin"]),
    piped("pad_left", "Code | pad_left(8, \"0\")", 1..=2, texts::pad_left)
        .like(&["zfill", "rjust", "lpad", "padleft", "pad"]),
    piped("starts_with", "Name | starts_with(\"A\")", 1..=1, texts::starts_with)
        .or("startswith")
        .like(&["startingwith", "begins_with"]),
    piped("ends_with", "Name | ends_with(\"A\")", 1..=1, texts::ends_with).or("endswith").like(&["endingwith"]),
    piped("contains", "Name | contains(\"A\")", 1..=1, texts::contains).like(&["includes", "search"]),
    piped("default", "Name | default(\"none\")", 1..=1, choice::default).taking_first().like(&["d", "or_else"]),
    direct("first_of", "first_of(Mobile, Phone)", 1..=usize::MAX, choice::first_of)
        .taking_first()
        .like(&["coalesce", "first", "ifblank"]),
    either("min", "min(Price, Offer)", 1..=usize::MAX, choice::min).like(&["least", "smallest"]),
    either("max", "max(Price, Offer)", 1..=usize::MAX, choice::max).like(&["greatest", "largest"]),
    piped("number", "Price | number(\"de\")", 0..=1, numbers::number)
        .with(constant::locale)
        .like(&["float", "decimal", "value"]),
    piped("plus", "Price | plus(Freight)", 1..=1, numbers::plus).like(&["add", "sum"]),
    piped("minus", "Price | minus(1.5)", 1..=1, numbers::minus).like(&["subtract"]),
    piped("times", "Price | times(1.19)", 1..=1, numbers::times).like(&["multiply", "mul"]),
    piped("divided_by", "Price | divided_by(12, 2)", 2..=2, numbers::divided_by).like(&["divide", "div", "quotient"]),
    piped("round", "Price | round(2)", 1..=1, numbers::round),
    piped("integer", "Quantity | integer", 0..=0, numbers::integer).like(&["int", "whole"]),
    piped("abs", "Balance | abs", 0..=0, numbers::abs).like(&["absolute"]),
    piped("floor", "Price | floor", 0..=0, numbers::floor).like(&["rounddown", "trunc"]),
    piped("ceil", "Price | ceil", 0..=0, numbers::ceil).like(&["ceiling", "roundup"]),
    either("date", "Ordered | date(\"DD.MM.YYYY\")", 0..=1, dates::date)
        .with(constant::date)
        .like(&["to_date", "datevalue"]),
    piped("format", "Ordered | format(\"YYYY-MM\")", 1..=1, dates::format).with(constant::output).like(&[
        "strftime",
        "date_format",
        "text",
    ]),
    piped("year", "Ordered | year", 0..=0, dates::year),
    piped("month", "Ordered | month", 0..=0, dates::month),
    piped("day", "Ordered | day", 0..=0, dates::day),
    piped("add_days", "Ordered | add_days(30)", 1..=1, dates::add_days).like(&["plus_days", "days", "dateadd"]),
    piped("add_months", "Ordered | add_months(1)", 1..=1, dates::add_months).like(&["plus_months", "months", "edate"]),
    piped("days_until", "Ordered | days_until(Due)", 1..=1, dates::days_until).like(&[
        "datediff",
        "days_between",
        "date_diff",
    ]),
    direct("today", "today()", 0..=0, facts::today).like(&["now", "current_date"]),
    direct("row_number", "row_number()", 0..=0, facts::row_number).like(&["rownum", "line_number"]),
    direct("sheet_name", "sheet_name()", 0..=0, facts::sheet_name).like(&["sheet"]),
    direct("file_name", "file_name()", 0..=0, facts::file_name).like(&["filename", "file"]),
    direct("cell", "cell(\"B2\")", 1..=1, facts::cell).with(constant::cell),
    direct("param", "param(\"warehouse\")", 1..=1, facts::param).with(constant::name).like(&[
        "parameter",
        "var",
        "env",
    ]),
];
