//! The names, arguments and aliases of functions.

use std::ops::RangeInclusive;

use super::constant::{self, ParseConstant};

pub(super) struct Function {
    pub(super) name: &'static str,
    /// An example, for messages.
    pub(super) usage: &'static str,
    /// Number of arguments, without the value before `|`.
    pub(super) arguments: RangeInclusive<usize>,
    /// Parses the first argument, a constant in quotes.
    pub(super) constant: Option<ParseConstant>,
    /// Names of the function in other languages, for suggestions.
    aliases: &'static [&'static str],
}

/// The only function without a value before `|`.
pub(super) const FIRST_OF: &str = "first_of";

/// Looks up a function.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// Looks up a function by its name in another language.
pub(super) fn by_alias(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let function = FUNCTIONS.iter().find(|function| function.aliases.contains(&name.as_str()));
    function.map(|function| function.name)
}

const fn function(
    name: &'static str,
    usage: &'static str,
    arguments: RangeInclusive<usize>,
    aliases: &'static [&'static str],
) -> Function {
    Function { name, usage, arguments, constant: None, aliases }
}

impl Function {
    /// Takes a constant as the first argument.
    const fn with(self, constant: ParseConstant) -> Function {
        Function { constant: Some(constant), ..self }
    }
}

pub(super) static FUNCTIONS: &[Function] = &[
    function("trim", "Name | trim", 0..=0, &["strip"]),
    function("upper", "Name | upper", 0..=0, &["uppercase", "toupper", "ucase", "capitals"]),
    function("lower", "Name | lower", 0..=0, &["lowercase", "tolower", "lcase"]),
    function("title", "Name | title", 0..=0, &["capitalize", "proper", "titlecase"]),
    function("replace", "Name | replace(\"ä\", \"ae\")", 2..=2, &["substitute"]),
    function("regex_replace", "Name | regex_replace(\"[^0-9]+\", \"\")", 2..=2, &["re_replace", "regexreplace", "sub"])
        .with(constant::pattern),
    function("left", "Name | left(3)", 1..=1, &[]),
    function("right", "Name | right(3)", 1..=1, &[]),
    function("slice", "Name | slice(2, 5)", 1..=2, &["substring", "substr", "mid"]),
    function("split", "Name | split(\"-\")[0]", 1..=1, &[]),
    function("join", "(Name | split(\"-\")) | join(\" \")", 1..=1, &[]),
    function("pad_left", "Code | pad_left(8, \"0\")", 1..=2, &["zfill", "rjust", "lpad", "padleft", "pad"]),
    function("default", "Name | default(\"none\")", 1..=1, &["d", "or_else"]),
    function(FIRST_OF, "first_of(Mobile, Phone)", 1..=usize::MAX, &["coalesce", "first", "ifblank"]),
    function("startswith", "Name | startswith(\"A\")", 1..=1, &["starts_with", "startingwith"]),
    function("endswith", "Name | endswith(\"A\")", 1..=1, &["ends_with", "endingwith"]),
    function("contains", "Name | contains(\"A\")", 1..=1, &["includes", "in"]),
    function("number", "Price | number(\"de\")", 0..=1, &["float", "decimal", "value"]).with(constant::locale),
    function("plus", "Price | plus(Freight)", 1..=1, &["add", "sum"]),
    function("minus", "Price | minus(1.5)", 1..=1, &["subtract"]),
    function("times", "Price | times(1.19)", 1..=1, &["multiply", "mul"]),
    function("divided_by", "Price | divided_by(12, 2)", 2..=2, &["divide", "div"]),
    function("round", "Price | round(2)", 1..=1, &[]),
    function("integer", "Quantity | integer", 0..=0, &["int", "whole"]),
    function("date", "Ordered | date(\"DD.MM.YYYY\")", 1..=1, &[]).with(constant::date),
];
