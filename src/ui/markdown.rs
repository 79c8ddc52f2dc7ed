//! A plan as Markdown, for pull requests and other pages that render it.
//!
//! All text from the file and the service is foreign: it is shown as code, with entities in place of the characters by which it could be a
//! table, a link, a mention or HTML.

use std::fmt::Write as _;

use sheetport_files::visible::one_line;
use sheetport_language::{say, word};
use sheetport_ledger::{Accounting, Run};
use sheetport_operations::{FirstChange, NotPlanned, PlannedMissing, shown_file};
use sheetport_plan::compare::{Difference, FieldChange};

use super::changes::{self as terminal, remark};
use super::missing::{alike, too_many, unreadable};
use super::thousands;

/// Maximum number of listed changes.
pub const MOST: usize = 40;
/// Maximum number of characters of a shown value.
const MAX_VALUE: usize = 80;

/// Prints a plan.
pub fn print(
    run: &Run,
    accounting: &Accounting,
    found: (&Difference, Option<&PlannedMissing>),
    first: &[FirstChange],
    next: Option<&str>,
) {
    super::text(&markdown(run, accounting, found, first, next));
}

fn markdown(
    run: &Run,
    accounting: &Accounting,
    (difference, missing): (&Difference, Option<&PlannedMissing>),
    first: &[FirstChange],
    next: Option<&str>,
) -> String {
    let (file, template) = (code(&shown_file(run)), code(&run.about.template));
    let mut text = format!("### {}\n\n", say!("Plan of {file} with {template}"));
    text.push_str(&counts(accounting, difference));
    if let Some(missing) = missing {
        text.push_str(&held(missing));
    }
    if !difference.fields.is_empty() {
        text.push_str(&fields(&difference.fields));
    }
    if !first.is_empty() {
        let all: u64 = difference.fields.iter().map(|field| field.records).sum();
        text.push_str(&changes(first, all));
    }
    match next {
        Some(next) => text.push_str(&say!("Nothing is sent yet. Next: {}", whole(next))),
        None => text.push_str(&say!("Nothing is left to send.")),
    }
    text.push('\n');
    text
}

fn counts(accounting: &Accounting, difference: &Difference) -> String {
    let why = difference.why_not.as_ref().map(|why| code(&why.to_string())).unwrap_or_default();
    let mut text = format!("| {} | | |\n|--:|---|---|\n", word("records"));
    let not_sent = [
        (accounting.skipped, word("skipped"), String::new()),
        (accounting.rejected, word("rejected"), say!("need fixing")),
    ];
    for (count, name, meaning) in terminal::counts(difference, why).into_iter().chain(not_sent) {
        if count > 0 {
            let _ = writeln!(text, "| {} | {name} | {meaning} |", thousands(count));
        }
    }
    text.push('\n');
    text
}

/// Says for which missing records nothing is planned.
fn held(missing: &PlannedMissing) -> String {
    let not_planned = missing.not_planned.as_ref().map(|why| match why {
        NotPlanned::TooMany => too_many(missing),
        NotPlanned::Unreadable(_) => unreadable(),
    });
    let alike = (!missing.alike.is_empty()).then(|| alike(missing));
    not_planned.into_iter().chain(alike).map(|sentence| format!("{sentence}\n\n")).collect()
}

fn fields(fields: &[FieldChange]) -> String {
    let mut text = format!("| {} | {} | | |\n|---|--:|--:|---|\n", word("field"), word("changed"));
    for FieldChange { field, records, overview, .. } in fields {
        let usual = match (overview.common_factor(), overview.median()) {
            (Some((factor, count)), _) => say!("{} of them by the factor {factor:.4}", thousands(count as u64)),
            (None, Some(median)) => say!("median {:+.1} %", (median - 1.0) * 100.0),
            (None, None) => String::new(),
        };
        let odd = overview.odd().map(|(odd, count)| format!("{}: {}", thousands(count), remark(odd)));
        let odd: Vec<String> = odd.collect();
        let _ = writeln!(text, "| {} | {} | {usual} | {} |", code(field), thousands(*records), odd.join("; "));
    }
    text.push('\n');
    text
}

fn changes(first: &[FirstChange], all: u64) -> String {
    let shown = thousands(first.len() as u64);
    let mut text = match first.len() as u64 == all {
        true => format!("{}\n\n", say!("{shown} changes, odd ones first:")),
        false => format!("{}\n\n", say!("{shown} of {} changes, odd ones first:", thousands(all))),
    };
    let titles = ["row", "record", "field", "now", "planned"].map(word);
    let _ = writeln!(text, "| {} | |\n|--:|---|---|---|---|---|", titles.join(" | "));
    for FirstChange { row, record, field, now, planned, odd } in first {
        let row = row.map(|row| row.to_string()).unwrap_or_default();
        let odd = odd.map(remark).unwrap_or_default();
        let cells = [row, code(record), code(field), code(now), code(planned), odd];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text.push('\n');
    text
}

/// Returns foreign text that means nothing to Markdown and to HTML, and the start of a long one.
fn code(foreign: &str) -> String {
    up_to(MAX_VALUE, foreign)
}

/// Returns foreign text like [`code`], but never cut: the text is to be copied.
fn whole(foreign: &str) -> String {
    up_to(usize::MAX, foreign)
}

fn up_to(most: usize, foreign: &str) -> String {
    if foreign.trim().is_empty() {
        return format!("*{}*", word("blank"));
    }
    let shown = one_line(foreign);
    let end = shown.char_indices().nth(most).map(|(end, _)| end);
    let cut = &shown[..end.unwrap_or(shown.len())];
    let mut text = "<code>".to_owned();
    // A point after www would begin a link.
    let has_www = cut.to_ascii_lowercase().contains("www");
    for c in cut.chars() {
        match c {
            // Apart from the entity, nothing may be an address.
            '@' => text.push_str("&#64;<wbr>"),
            '.' if !has_www => text.push('.'),
            ' ' | ',' | '-' | '/' | '%' => text.push(c),
            c if c.is_ascii_alphanumeric() || !c.is_ascii() => text.push(c),
            c => {
                let _ = write!(text, "&#{};", u32::from(c));
            }
        }
    }
    if end.is_some() {
        text.push('…');
    }
    text.push_str("</code>");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_neither_markdown_nor_html() {
        for (foreign, expected) in [
            ("1.50", "<code>1.50</code>"),
            ("a|b", "<code>a&#124;b</code>"),
            ("`x`", "<code>&#96;x&#96;</code>"),
            ("<b>&amp;", "<code>&#60;b&#62;&#38;amp&#59;</code>"),
            ("[a](https://b.c)", "<code>&#91;a&#93;&#40;https&#58;//b.c&#41;</code>"),
            ("www.b.c", "<code>www&#46;b&#46;c</code>"),
            ("@a #1 *x*", "<code>&#64;<wbr>a &#35;1 &#42;x&#42;</code>"),
            ("", "*blank*"),
            ("Grün 20 %", "<code>Grün 20 %</code>"),
        ] {
            assert_eq!(code(foreign), expected);
        }
        for c in ["\n", "\r", "\u{202e}", "\0"] {
            assert!(!code(&format!("a{c}b")).contains(c));
        }
        assert!(code(&"ä".repeat(200)).chars().count() < 100);
        assert_eq!(whole(&"ä".repeat(200)), format!("<code>{}</code>", "ä".repeat(200)));
    }
}
