//! Functions of texts. Other values are changed as their canonical text.

use std::borrow::Cow;

use regex::Regex;
use sheetport_values::decimal::Decimal;
use sheetport_values::pattern::longest;

use super::super::constant::Constant;
use super::super::operand::{Item, Operand, fits, quoted};
use super::super::position::characters;
use super::call::Call;
use crate::typed_value::Value;

/// Maximum number of parts of a split text.
const MAX_PARTS: usize = 4096;

pub(super) fn trim<'v>(mut call: Call<'v>) -> Result<Operand<'v>, String> {
    Ok(Operand::text(part(call.take().into_text()?, str::trim)))
}

pub(super) fn upper<'v>(mut call: Call<'v>) -> Result<Operand<'v>, String> {
    Ok(Operand::text(call.take().as_text()?.to_uppercase()))
}

pub(super) fn lower<'v>(mut call: Call<'v>) -> Result<Operand<'v>, String> {
    Ok(Operand::text(call.take().as_text()?.to_lowercase()))
}

pub(super) fn title<'v>(mut call: Call<'v>) -> Result<Operand<'v>, String> {
    let subject = call.take();
    let text = subject.as_text()?;
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
    Ok(Operand::text(titled))
}

pub(super) fn replace<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    let (subject, from, to) = (call.value(0)?.as_text()?, call.value(1)?.as_text()?, call.value(2)?.as_text()?);
    if from.is_empty() {
        return Err("the text to replace is blank".to_owned());
    }
    fits(subject.len().saturating_add(subject.matches(from.as_ref()).count().saturating_mul(to.len())))?;
    Ok(Operand::text(subject.replace(from.as_ref(), &to)))
}

pub(super) fn regex_replace<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    let (subject, replacement) = (call.value(0)?.as_text()?, call.value(1)?.as_text()?);
    let mut replaced = String::with_capacity(subject.len());
    let mut at = 0;
    for captures in pattern(&call)?.captures_iter(&subject) {
        let Some(whole) = captures.get(0) else { continue };
        let made = longest(&replacement, whole.len());
        call.context.spend(0, made).map_err(|exceeded| exceeded.to_string())?;
        replaced.push_str(&subject[at..whole.start()]);
        captures.expand(&replacement, &mut replaced);
        fits(replaced.len())?;
        at = whole.end();
    }
    replaced.push_str(&subject[at..]);
    Ok(Operand::text(replaced))
}

pub(super) fn regex_match<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    let subject = call.value(0)?.as_text()?;
    let pattern = pattern(&call)?;
    let Some(captures) = pattern.captures(&subject) else {
        let reason = format!("{} has no match of this pattern; add a replacement: | default(\"\")", quoted(&subject));
        return Ok(Operand::missing(reason));
    };
    let found = captures.get(1).or_else(|| captures.get(0)).map_or("", |found| found.as_str());
    Ok(Operand::text(found.to_owned()))
}

pub(super) fn matches<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    let is_match = pattern(&call)?.is_match(&call.value(0)?.as_text()?);
    Ok(Value::Boolean(is_match).into())
}

pub(super) fn left<'v>(mut call: Call<'v>) -> Result<Operand<'v>, String> {
    let subject = call.take();
    let count = call.value(0)?.count(call.context)?;
    Ok(Operand::text(part(subject.into_text()?, |text| characters(text, None, Some(count)))))
}

pub(super) fn right<'v>(mut call: Call<'v>) -> Result<Operand<'v>, String> {
    let subject = call.take();
    let count = call.value(0)?.count(call.context)?;
    // From -0, there would be all characters.
    let (from, to) = if count == 0 { (None, Some(0)) } else { (Some(-count), None) };
    Ok(Operand::text(part(subject.into_text()?, |text| characters(text, from, to))))
}

pub(super) fn slice<'v>(mut call: Call<'v>) -> Result<Operand<'v>, String> {
    let subject = call.take();
    let from = call.value(0)?.whole(call.context)?;
    let to = call.values.get(1).map(|to| to.whole(call.context)).transpose()?;
    Ok(Operand::text(part(subject.into_text()?, |text| characters(text, Some(from), to))))
}

pub(super) fn length<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    let count = match &call.value(0)?.item {
        Item::List(parts) => parts.len(),
        _ => call.value(0)?.as_text()?.chars().count(),
    };
    Ok(Value::Number(Decimal::from(count)).into())
}

pub(super) fn split<'v>(mut call: Call<'v>) -> Result<Operand<'v>, String> {
    let subject = call.take().into_text()?;
    let separator = call.value(0)?.as_text()?;
    if separator.is_empty() {
        return Err("the separator is blank".to_owned());
    }
    let parts: Vec<Value<'v>> = match subject {
        Cow::Borrowed(text) => {
            text.split(separator.as_ref()).take(MAX_PARTS + 1).map(|part| Value::Text(part.into())).collect()
        }
        Cow::Owned(text) => {
            let parts = text.split(separator.as_ref()).take(MAX_PARTS + 1);
            parts.map(|part| Value::Text(part.to_owned().into())).collect()
        }
    };
    if parts.len() > MAX_PARTS {
        return Err(format!("the text has more than {MAX_PARTS} parts"));
    }
    Ok(Item::List(parts).into())
}

pub(super) fn join<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    let Item::List(parts) = &call.value(0)?.item else {
        return Err("this is a single text; only parts can be joined".to_owned());
    };
    let separator = call.value(1)?.as_text()?;
    let mut joined = String::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            joined.push_str(&separator);
        }
        joined.push_str(&part.text());
        fits(joined.len())?;
    }
    Ok(Operand::text(joined))
}

pub(super) fn pad_left<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    let subject = call.value(0)?.as_text()?;
    let width = usize::try_from(call.value(1)?.count(call.context)?).unwrap_or(usize::MAX);
    fits(width)?;
    let fill = call.values.get(2).map_or(Ok(Cow::Borrowed(" ")), Operand::as_text)?;
    let mut chars = fill.chars();
    let (Some(fill), None) = (chars.next(), chars.next()) else {
        return Err(format!("{} is not a single character", quoted(&fill)));
    };
    let missing = width.saturating_sub(subject.chars().count());
    let mut padded: String = std::iter::repeat_n(fill, missing).collect();
    padded.push_str(&subject);
    Ok(Operand::text(padded))
}

pub(super) fn starts_with<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    test(&call, |text, other| text.starts_with(other))
}

pub(super) fn ends_with<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    test(&call, |text, other| text.ends_with(other))
}

pub(super) fn contains<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    test(&call, |text, other| text.contains(other))
}

fn test<'v>(call: &Call<'v>, holds: fn(&str, &str) -> bool) -> Result<Operand<'v>, String> {
    Ok(Value::Boolean(holds(&call.value(0)?.as_text()?, &call.value(1)?.as_text()?)).into())
}

fn pattern<'v>(call: &Call<'v>) -> Result<&'v Regex, String> {
    match call.constant {
        Some(Constant::Pattern(pattern)) => Ok(&pattern.regex),
        _ => Err("this needs a pattern".to_owned()),
    }
}

/// Takes a part of a text without copying it, if possible.
fn part<'v>(text: Cow<'v, str>, part: impl Fn(&str) -> &str) -> Cow<'v, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(part(text)),
        Cow::Owned(text) => Cow::Owned(part(&text).to_owned()),
    }
}
