//! What an expression can do with a value.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind};

use super::super::date::Read;
use super::super::digits;
use super::super::number;
use super::super::problem::Cause;
use super::LONGEST;
use super::rewrite::{self, Constant, Make};

/// Every function: its name, how it is used, and what it does.
pub const FUNCTIONS: &[(&str, &str, &str)] = &[
    ("trim", "Name | trim", "without white space around"),
    ("upper", "Name | upper", "in capitals"),
    ("lower", "Name | lower", "in small letters"),
    ("title", "Name | title", "each word with a capital first"),
    ("replace", "Name | replace(\"ä\", \"ae\")", "every occurrence replaced"),
    (
        "regex_replace",
        "Name | regex_replace(\"[^0-9]+\", \"\")",
        "every match of the pattern replaced; $1 is its first group",
    ),
    ("left", "Name | left(3)", "the first characters"),
    ("right", "Name | right(3)", "the last characters"),
    ("slice", "Name | slice(2, 5)", "from a character up to another, counted from 0; negative ones count from the end"),
    ("split", "Name | split(\"-\")[0]", "a part between separators, counted from 0; the last is [-1]"),
    ("join", "(Name | split(\"-\")) | join(\" \")", "parts as one text again"),
    (
        "pad_left",
        "Code | pad_left(8, \"0\")",
        "filled up in front to so many characters, with spaces if nothing is said",
    ),
    ("default", "Name | default(\"none\")", "another text for a blank one or a part that is not there"),
    ("first_of", "first_of(Mobile, Phone)", "the first that is not blank"),
    ("startswith", "Name | startswith(\"A\")", "for conditions: whether the text begins so"),
    ("endswith", "Name | endswith(\"A\")", "for conditions: whether the text ends so"),
    ("contains", "Name | contains(\"A\")", "for conditions: whether that is in the text"),
    ("number", "Price | number(\"de\")", "plain digits of a number as the locale writes it"),
    ("plus", "Price | plus(Freight)", "the sum, exactly"),
    ("minus", "Price | minus(1.5)", "the difference, exactly"),
    ("times", "Price | times(1.19)", "the product, exactly"),
    ("divided_by", "Price | divided_by(12, 2)", "the quotient to so many decimals"),
    ("round", "Price | round(2)", "rounded to so many decimals, halves away from zero"),
    ("integer", "Quantity | integer", "a whole number without decimals; any other is an error"),
    ("date", "Ordered | date(\"DD.MM.YYYY\")", "a date as 2025-12-31"),
];

/// What parts that were not chosen from are in a text, so that they are noticed there: characters that no text has,
/// because Unicode keeps them for such inner use.
pub const SEVERAL: &str = "\u{fdd0}\u{fdd1}";
pub const TAKE_ONE: &str = "these are several texts; take one of them, as in split(\"-\")[0], or join them";

/// How a function is called.
pub struct Shape {
    /// The number of its arguments, besides the value before `|`.
    pub arguments: RangeInclusive<usize>,
    /// What makes its first argument ready, if that has to be written out.
    pub constant: Option<Make>,
    /// Whether it stands by itself instead of behind `|`.
    pub stands_alone: bool,
}

/// A function's value, or a message.
type Answer = Result<Value, String>;

/// The number that stands for an endless list of arguments; an expression's length bounds it.
const MANY: usize = usize::MAX;

pub fn shape(name: &str) -> Option<Shape> {
    let plain = |arguments| Some(Shape { arguments, constant: None, stands_alone: false });
    let with = |arguments, make: Make| Some(Shape { arguments, constant: Some(make), stands_alone: false });
    match name {
        "trim" | "upper" | "lower" | "title" | "integer" => plain(0..=0),
        "left" | "right" | "split" | "join" | "default" | "startswith" | "endswith" | "contains" | "plus" | "minus"
        | "times" | "round" => plain(1..=1),
        "replace" | "divided_by" => plain(2..=2),
        "slice" | "pad_left" => plain(1..=2),
        "regex_replace" => with(2..=2, rewrite::pattern),
        "number" => with(0..=1, rewrite::locale),
        "date" => with(1..=1, rewrite::date),
        "first_of" => Some(Shape { arguments: 1..=MANY, constant: None, stands_alone: true }),
        _ => None,
    }
}

pub fn usage(name: &str) -> &'static str {
    FUNCTIONS.iter().find(|(known, ..)| *known == name).map_or("", |(_, usage, _)| usage)
}

/// What functions of other languages are called here.
pub fn meant(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "uppercase" | "toupper" | "ucase" | "capitals" => "upper",
        "lowercase" | "tolower" | "lcase" => "lower",
        "capitalize" | "proper" | "titlecase" => "title",
        "strip" => "trim",
        "substring" | "substr" | "mid" => "slice",
        "substitute" => "replace",
        "re_replace" | "regexreplace" | "sub" => "regex_replace",
        "coalesce" | "first" | "ifblank" => "first_of",
        "zfill" | "rjust" | "lpad" | "padleft" | "pad" => "pad_left",
        "int" | "whole" => "integer",
        "float" | "decimal" | "value" => "number",
        "add" | "sum" => "plus",
        "subtract" => "minus",
        "multiply" | "mul" => "times",
        "divide" | "div" => "divided_by",
        "starts_with" | "startingwith" => "startswith",
        "ends_with" | "endingwith" => "endswith",
        "includes" | "in" => "contains",
        "d" | "or_else" => "default",
        _ => return None,
    })
}

/// Adds all functions to the engine, which has none of its own.
pub fn add_to(environment: &mut Environment<'static>, constants: &Arc<Vec<Constant>>) {
    for (name, ..) in FUNCTIONS {
        let constants = constants.clone();
        environment.add_filter(*name, move |value: &Value, arguments: Rest<Value>| {
            call(name, value, &arguments, &constants).and_then(bounded).map_err(fault)
        });
    }
    environment.add_function("first_of", |arguments: Rest<Value>| {
        for value in arguments.iter().filter(|value| !value.is_undefined()) {
            if !text(value).map_err(fault)?.trim().is_empty() {
                return Ok(value.clone());
            }
        }
        Ok(Value::from(""))
    });
}

/// The text of a value that an expression ends in.
pub fn shown(value: &Value) -> Result<Cow<'_, str>, Error> {
    match value.kind() {
        ValueKind::Undefined => Err(Error::from(ErrorKind::UndefinedError)),
        _ => text(value).map_err(fault),
    }
}

/// The message of an error that is one of ours.
pub fn words(error: &Error) -> Option<String> {
    use std::error::Error as _;
    error.source().and_then(|source| source.downcast_ref::<Words>()).map(|words| words.0.clone())
}

/// The parts of a text.
#[derive(Debug)]
struct Parts(Vec<Value>);

impl Object for Parts {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }

    fn render(self: &Arc<Self>, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(SEVERAL)
    }
}

#[derive(Debug)]
struct Words(String);

impl std::fmt::Display for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Words {}

fn fault(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, "").with_source(Words(message))
}

fn call(name: &str, value: &Value, arguments: &[Value], constants: &[Constant]) -> Answer {
    let argument = |index: usize| arguments.get(index).ok_or_else(|| "an argument is missing".to_owned());
    let made = |text: String| Ok(Value::from(text));
    match name {
        "default" => {
            let blank = value.is_undefined() || text(value)?.trim().is_empty();
            return Ok(if blank { argument(0)? } else { value }.clone());
        }
        "join" => return join(value, &text(argument(0)?)?),
        _ => {}
    }
    let subject = text(value)?;
    match name {
        "trim" => Ok(Value::from(subject.trim())),
        "upper" => made(subject.to_uppercase()),
        "lower" => made(subject.to_lowercase()),
        "title" => made(title(&subject)),
        "replace" => {
            let (from, to) = (text(argument(0)?)?, text(argument(1)?)?);
            if from.is_empty() {
                return Err("what is to be replaced is blank".to_owned());
            }
            fits(subject.len().saturating_add(subject.matches(from.as_ref()).count().saturating_mul(to.len())))?;
            made(subject.replace(from.as_ref(), &to))
        }
        "regex_replace" => match constant(argument(0)?, constants)? {
            Constant::Pattern(pattern) => regex_replace(&subject, pattern, &text(argument(1)?)?),
            _ => Err("this needs a pattern".to_owned()),
        },
        "left" => made(slice(&subject, 0, Some(count(argument(0)?)?))),
        "right" => {
            let length = i64::try_from(subject.chars().count()).unwrap_or(i64::MAX);
            made(slice(&subject, (length - count(argument(0)?)?).max(0), None))
        }
        "slice" => {
            let end = arguments.get(1).map(whole).transpose()?;
            made(slice(&subject, whole(argument(0)?)?, end))
        }
        "split" => split(&subject, &text(argument(0)?)?, arguments.get(1)),
        "pad_left" => pad_left(&subject, count(argument(0)?)?, arguments.get(1)),
        "startswith" => Ok(Value::from(subject.starts_with(text(argument(0)?)?.as_ref()))),
        "endswith" => Ok(Value::from(subject.ends_with(text(argument(0)?)?.as_ref()))),
        "contains" => Ok(Value::from(subject.contains(text(argument(0)?)?.as_ref()))),
        "number" => {
            let locale = match arguments.first().map(|index| constant(index, constants)).transpose()? {
                Some(Constant::Locale(locale)) => Some(*locale),
                _ => None,
            };
            let digits = number::read(&subject, locale, None).map_err(|fault| not_a_number(&subject, fault))?;
            Ok(Value::from(digits.as_ref()))
        }
        "plus" | "minus" | "times" | "divided_by" | "round" | "integer" => reckon(name, &subject, arguments),
        "date" => match constant(argument(0)?, constants)? {
            Constant::Date(format) => match format.read(&subject) {
                Ok(Read::Date(date)) => made(date.to_string()),
                Ok(Read::Local(local)) => made(local.to_string()),
                Ok(Read::Instant(instant)) => made(instant.to_string()),
                Err(fault) => Err(format!("{} {fault}", quoted(&subject))),
            },
            _ => Err("this needs a date pattern".to_owned()),
        },
        _ => Err(format!("'{name}' is not a known function")),
    }
}

fn reckon(name: &str, subject: &str, arguments: &[Value]) -> Answer {
    let left = digits_of(subject)?;
    let places = |index: usize| {
        let places = arguments.get(index).map_or(Ok(0), count)?;
        u32::try_from(places).map_err(|_| "so many decimals can't be kept".to_owned())
    };
    let made = |result: Result<String, number::Fault>| match result {
        Ok(digits) => Ok(Value::from(digits)),
        Err(_) => Err("the result has more than 28 digits".to_owned()),
    };
    match name {
        "round" => return Ok(Value::from(digits::to_places(&left, places(0)?).as_ref())),
        "integer" => {
            let whole = digits::integer(&left).map_err(|fault| not_a_number(subject, fault))?;
            return Ok(Value::from(whole));
        }
        _ => {}
    }
    let right = text(arguments.first().unwrap_or(&Value::UNDEFINED))?;
    let right = digits_of(&right)?;
    match name {
        "plus" => made(digits::add(&left, &right)),
        "minus" => made(digits::subtract(&left, &right)),
        "times" => made(digits::multiply(&left, &right)),
        _ => match digits::divide(&left, &right, places(1)?) {
            Some(result) => made(result),
            None => Err("this divides by zero".to_owned()),
        },
    }
}

fn digits_of(text: &str) -> Result<Cow<'_, str>, String> {
    number::read(text, None, None).map_err(|fault| not_a_number(text, fault))
}

fn not_a_number(text: &str, fault: number::Fault) -> String {
    if text.trim().is_empty() {
        return "a blank is not a number; say what counts for it with | default(\"0\")".to_owned();
    }
    let hint = match fault {
        number::Fault::NeedsLocale => "; say how it is written: | number(\"de\")",
        _ => "",
    };
    format!("{} {}{hint}", quoted(text), Cause::NotANumber(fault).message())
}

fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() { format!("'{shown}…'") } else { format!("'{shown}'") }
}

/// A value as text. Lists and what is not there have none.
fn text(value: &Value) -> Result<Cow<'_, str>, String> {
    match value.kind() {
        ValueKind::String => Ok(value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)),
        ValueKind::Bool => Ok(Cow::Borrowed(if value.is_true() { "true" } else { "false" })),
        ValueKind::Number => Ok(Cow::Owned(value.to_string())),
        ValueKind::Undefined => Err("there is no such part; say what to take instead with | default(\"\")".to_owned()),
        _ => Err(TAKE_ONE.to_owned()),
    }
}

fn whole(value: &Value) -> Result<i64, String> {
    let shown = text(value)?;
    let digits = digits_of(&shown)?;
    let whole = digits::integer(&digits).ok().and_then(|digits| digits.parse().ok());
    whole.ok_or_else(|| format!("{} is not a whole number that can be used here", quoted(&shown)))
}

fn count(value: &Value) -> Result<i64, String> {
    match whole(value)? {
        count @ 0.. => Ok(count),
        count => Err(format!("{count} is less than nothing")),
    }
}

fn constant<'c>(index: &Value, constants: &'c [Constant]) -> Result<&'c Constant, String> {
    let constant = index.as_usize().and_then(|index| constants.get(index));
    constant.ok_or_else(|| "this has to be written out in quotes".to_owned())
}

/// Characters by their places, as Python counts them.
fn slice(text: &str, from: i64, to: Option<i64>) -> String {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let place =
        |at: i64| usize::try_from(if at < 0 { (length.saturating_add(at)).max(0) } else { at }).unwrap_or(usize::MAX);
    let (from, to) = (place(from), to.map_or(usize::MAX, place));
    text.chars().skip(from).take(to.saturating_sub(from)).collect()
}

fn split(text: &str, separator: &str, part: Option<&Value>) -> Answer {
    if separator.is_empty() {
        return Err("the separator is blank".to_owned());
    }
    let Some(part) = part else {
        return Ok(Value::from_object(Parts(text.split(separator).map(Value::from).collect())));
    };
    let part = whole(part)?;
    let distance = usize::try_from(if part < 0 { -(part + 1) } else { part }).unwrap_or(usize::MAX);
    let found = if part < 0 { text.rsplit(separator).nth(distance) } else { text.split(separator).nth(distance) };
    Ok(found.map_or(Value::UNDEFINED, Value::from))
}

fn join(value: &Value, separator: &str) -> Answer {
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Err("there is one text only, and nothing to join".to_owned());
    }
    let mut joined = String::new();
    for (index, part) in value.try_iter().map_err(|_| "there is nothing to join".to_owned())?.enumerate() {
        if index > 0 {
            joined.push_str(separator);
        }
        joined.push_str(&text(&part)?);
        fits(joined.len())?;
    }
    Ok(Value::from(joined))
}

fn pad_left(subject: &str, width: i64, fill: Option<&Value>) -> Answer {
    let width = usize::try_from(width).unwrap_or(usize::MAX);
    fits(width)?;
    let fill = fill.map_or(Ok(Cow::Borrowed(" ")), text)?;
    let mut chars = fill.chars();
    let (Some(fill), None) = (chars.next(), chars.next()) else {
        return Err(format!("{} is not one character to fill up with", quoted(&fill)));
    };
    let missing = width.saturating_sub(subject.chars().count());
    let mut padded: String = std::iter::repeat_n(fill, missing).collect();
    padded.push_str(subject);
    Ok(Value::from(padded))
}

fn regex_replace(subject: &str, pattern: &regex::Regex, replacement: &str) -> Answer {
    let mut replaced = String::with_capacity(subject.len());
    let mut at = 0;
    for captures in pattern.captures_iter(subject) {
        let Some(whole) = captures.get(0) else { continue };
        replaced.push_str(&subject[at..whole.start()]);
        captures.expand(replacement, &mut replaced);
        fits(replaced.len())?;
        at = whole.end();
    }
    replaced.push_str(&subject[at..]);
    Ok(Value::from(replaced))
}

fn title(text: &str) -> String {
    let mut titled = String::with_capacity(text.len());
    let mut begins = true;
    for c in text.chars() {
        if begins {
            titled.extend(c.to_uppercase());
        } else {
            titled.extend(c.to_lowercase());
        }
        begins = c.is_whitespace() || matches!(c, '-' | '/' | '(');
    }
    titled
}

fn bounded(value: Value) -> Answer {
    fits(value.as_str().map_or(0, str::len))?;
    Ok(value)
}

fn fits(length: usize) -> Result<(), String> {
    if length > LONGEST { Err("the text is longer than 32 KiB".to_owned()) } else { Ok(()) }
}
