//! The functions of expressions, registered as filters of minijinja.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind};

use super::super::value::number::{self, NumberError};
use super::catalog::{FIRST_OF, FUNCTIONS};
use super::constant::Constant;
use crate::decimal::{self, Decimal, DecimalError};

/// Maximum length of texts in bytes, as in a workbook's cell.
pub(super) const MAX_LENGTH: usize = 32 * 1024;

/// The text of a list, to detect lists in results. Unicode reserves these characters for internal use.
pub(super) const LIST: &str = "\u{fdd0}\u{fdd1}";
pub(super) const CHOOSE_PART: &str = "these are several texts; take one, as in split(\"-\")[0], or join them";
pub(super) const NO_PART: &str = "there is no such part; add a replacement: | default(\"\")";

/// Registers all functions.
pub(super) fn register(environment: &mut Environment<'static>, constants: &Arc<Vec<Constant>>) {
    for function in FUNCTIONS {
        let (name, constants) = (function.name, constants.clone());
        environment.add_filter(name, move |value: &Value, arguments: Rest<Value>| {
            call(name, value, &arguments, &constants).and_then(bounded).map_err(to_error)
        });
    }
    environment.add_function(FIRST_OF, |arguments: Rest<Value>| {
        for value in arguments.iter().filter(|value| !value.is_undefined()) {
            if !text(value).map_err(to_error)?.trim().is_empty() {
                return Ok(value.clone());
            }
        }
        Ok(Value::from(""))
    });
}

/// Returns the text of an expression's result.
pub(super) fn result_text(value: &Value) -> Result<Cow<'_, str>, Error> {
    match value.kind() {
        ValueKind::Undefined => Err(Error::from(ErrorKind::UndefinedError)),
        _ => text(value).map_err(to_error),
    }
}

/// Returns the message of an error from these functions.
pub(super) fn message(error: &Error) -> Option<&str> {
    use std::error::Error as _;
    error.source().and_then(|source| source.downcast_ref::<Message>()).map(|message| message.0.as_str())
}

/// The parts of a split text.
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

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(LIST)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Message(String);

fn to_error(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, "").with_source(Message(message))
}

fn call(name: &str, value: &Value, arguments: &[Value], constants: &[Constant]) -> Result<Value, String> {
    let argument = |index: usize| arguments.get(index).ok_or_else(|| "an argument is missing".to_owned());
    let value_of = |text: String| Ok(Value::from(text));
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
        "upper" => value_of(subject.to_uppercase()),
        "lower" => value_of(subject.to_lowercase()),
        "title" => value_of(title(&subject)),
        "replace" => {
            let (from, to) = (text(argument(0)?)?, text(argument(1)?)?);
            if from.is_empty() {
                return Err("the text to replace is blank".to_owned());
            }
            fits(subject.len().saturating_add(subject.matches(from.as_ref()).count().saturating_mul(to.len())))?;
            value_of(subject.replace(from.as_ref(), &to))
        }
        "regex_replace" => match constant(argument(0)?, constants)? {
            Constant::Pattern(pattern) => regex_replace(&subject, pattern, &text(argument(1)?)?),
            _ => Err("this needs a pattern".to_owned()),
        },
        "left" => value_of(slice(&subject, 0, Some(count(argument(0)?)?))),
        "right" => {
            let length = i64::try_from(subject.chars().count()).unwrap_or(i64::MAX);
            value_of(slice(&subject, (length - count(argument(0)?)?).max(0), None))
        }
        "slice" => {
            let end = arguments.get(1).map(whole).transpose()?;
            value_of(slice(&subject, whole(argument(0)?)?, end))
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
            let number = number::parse(&subject, locale, None).map_err(|error| not_a_number(&subject, error))?;
            value_of(number.to_string())
        }
        "plus" | "minus" | "times" | "divided_by" | "round" | "integer" => arithmetic(name, &subject, arguments),
        "date" => match constant(argument(0)?, constants)? {
            Constant::Date(format) => match format.parse_date(&subject) {
                Ok(date) => value_of(date.to_string()),
                Err(error) => Err(format!("{} {error}", quoted(&subject))),
            },
            _ => Err("this needs a date pattern".to_owned()),
        },
        _ => Err(format!("'{name}' is not a known function")),
    }
}

fn arithmetic(name: &str, subject: &str, arguments: &[Value]) -> Result<Value, String> {
    let left = parse(subject)?;
    let places = |index: usize| {
        let places = arguments.get(index).map_or(Ok(0), count)?;
        u32::try_from(places).map_err(|_| format!("{places} is too many decimals"))
    };
    let right = || parse(&text(arguments.first().unwrap_or(&Value::UNDEFINED))?);
    let result = match name {
        "round" => Ok(decimal::round(left, places(0)?)),
        "integer" => {
            return match decimal::to_integer(left) {
                Some(whole) => Ok(Value::from(whole.to_string())),
                None => Err(not_a_number(subject, NumberError::NotWhole)),
            };
        }
        "plus" => decimal::add(left, right()?),
        "minus" => decimal::subtract(left, right()?),
        "times" => number::multiply(left, right()?),
        _ => decimal::divide(left, right()?, places(1)?),
    };
    match result {
        Ok(number) => Ok(Value::from(number.to_string())),
        Err(DecimalError::DivisionByZero) => Err("this divides by zero".to_owned()),
        Err(_) => Err("the result has more than 28 digits".to_owned()),
    }
}

fn parse(text: &str) -> Result<Decimal, String> {
    number::parse(text, None, None).map_err(|error| not_a_number(text, error))
}

fn not_a_number(text: &str, error: NumberError) -> String {
    if text.trim().is_empty() {
        return "a blank is not a number; add a replacement: | default(\"0\")".to_owned();
    }
    let hint = match error {
        NumberError::NeedsLocale => "; say how it is written: | number(\"de\")",
        _ => "",
    };
    format!("{} {error}{hint}", quoted(text))
}

fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let start: String = text.chars().take(MAX_CHARS).collect();
    if start.len() < text.len() { format!("'{start}…'") } else { format!("'{start}'") }
}

/// Returns a value as text. Fails for lists and missing parts.
fn text(value: &Value) -> Result<Cow<'_, str>, String> {
    match value.kind() {
        ValueKind::String => Ok(value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)),
        ValueKind::Bool => Ok(Cow::Borrowed(if value.is_true() { "true" } else { "false" })),
        ValueKind::Number => Ok(Cow::Owned(value.to_string())),
        ValueKind::Undefined => Err(NO_PART.to_owned()),
        _ => Err(CHOOSE_PART.to_owned()),
    }
}

fn whole(value: &Value) -> Result<i64, String> {
    let text = text(value)?;
    let whole = decimal::to_integer(parse(&text)?).and_then(|number| i64::try_from(number).ok());
    whole.ok_or_else(|| format!("{} can't be used here; write a whole number", quoted(&text)))
}

fn count(value: &Value) -> Result<i64, String> {
    match whole(value)? {
        count @ 0.. => Ok(count),
        count => Err(format!("{count} is negative")),
    }
}

fn constant<'c>(index: &Value, constants: &'c [Constant]) -> Result<&'c Constant, String> {
    let constant = index.as_usize().and_then(|index| constants.get(index));
    constant.ok_or_else(|| "this must be written out in quotes".to_owned())
}

/// Returns the characters between two positions, counted as in Python.
fn slice(text: &str, from: i64, to: Option<i64>) -> String {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let place =
        |at: i64| usize::try_from(if at < 0 { (length.saturating_add(at)).max(0) } else { at }).unwrap_or(usize::MAX);
    let (from, to) = (place(from), to.map_or(usize::MAX, place));
    text.chars().skip(from).take(to.saturating_sub(from)).collect()
}

fn split(text: &str, separator: &str, part: Option<&Value>) -> Result<Value, String> {
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

fn join(value: &Value, separator: &str) -> Result<Value, String> {
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Err("this is a single text; only parts can be joined".to_owned());
    }
    let mut joined = String::new();
    for (index, part) in value.try_iter().map_err(|error| error.to_string())?.enumerate() {
        if index > 0 {
            joined.push_str(separator);
        }
        joined.push_str(&text(&part)?);
        fits(joined.len())?;
    }
    Ok(Value::from(joined))
}

fn pad_left(subject: &str, width: i64, fill: Option<&Value>) -> Result<Value, String> {
    let width = usize::try_from(width).unwrap_or(usize::MAX);
    fits(width)?;
    let fill = fill.map_or(Ok(Cow::Borrowed(" ")), text)?;
    let mut chars = fill.chars();
    let (Some(fill), None) = (chars.next(), chars.next()) else {
        return Err(format!("{} is not a single character", quoted(&fill)));
    };
    let missing = width.saturating_sub(subject.chars().count());
    let mut padded: String = std::iter::repeat_n(fill, missing).collect();
    padded.push_str(subject);
    Ok(Value::from(padded))
}

fn regex_replace(subject: &str, pattern: &regex::Regex, replacement: &str) -> Result<Value, String> {
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

fn bounded(value: Value) -> Result<Value, String> {
    fits(value.as_str().map_or(0, str::len))?;
    Ok(value)
}

fn fits(length: usize) -> Result<(), String> {
    if length > MAX_LENGTH { Err("the text is longer than 32 KiB".to_owned()) } else { Ok(()) }
}
