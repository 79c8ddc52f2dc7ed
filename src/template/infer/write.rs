//! A proposal as a template that people read: TOML with a remark for each guess.

use std::fmt::Write;

use super::super::model::Place;
use super::propose::{called, constant, is_hidden, quoted};
use super::{From, Proposal, Proposed};

/// Remarks are broken at this column.
const WIDTH: usize = 110;

/// The template's text. Every line of it ends with a newline.
pub fn toml(proposal: &Proposal) -> String {
    let mut out = String::new();
    let input = proposal.kind.input();
    comment(
        &mut out,
        &format!(
            "How {} becomes {}: which column is which field. Proposed by sheetport from the column names and \
        the first values; read it through, and change what is wrong.",
            proposal.file, input.plural
        ),
    );
    comment(
        &mut out,
        "Each field says how sure the proposal is: sure, likely, or a guess. Lines that start with # are remarks.",
    );
    if !proposal.missing.is_empty() {
        out.push('\n');
        comment(&mut out, "NOT COMPLETE. No column was found for what the service needs:");
        for missing in &proposal.missing {
            comment(&mut out, &format!("  {}: {}", missing.path(), missing.doc));
        }
        comment(&mut out, "Fill in the tables for these below and take off the #, then run sheetport template check.");
    }
    line(&mut out, &format!("\nrecord = {}", quoted(proposal.kind.name())));
    line(&mut out, &format!("description = {}", quoted(&format!("{} from {}", capital(input.plural), proposal.file))));
    sheet(&mut out, proposal);
    group(&mut out, proposal);
    for missing in proposal.missing.iter().filter(|missing| missing.place != Place::Line) {
        draft(&mut out, missing.place, missing.field);
    }
    for proposed in proposal.fields.iter().filter(|proposed| proposed.place != Place::Line) {
        field(&mut out, proposed);
    }
    if proposal.wants_currency {
        out.push('\n');
        comment(&mut out, "No column and no sign tells the currency. If your workspace needs it:");
        comment(&mut out, "[fields.currency]");
        comment(&mut out, "value = \"EUR\"");
    }
    for missing in proposal.missing.iter().filter(|missing| missing.place == Place::Line) {
        draft(&mut out, missing.place, missing.field);
    }
    for proposed in proposal.fields.iter().filter(|proposed| proposed.place == Place::Line) {
        field(&mut out, proposed);
    }
    if !proposal.unplaced.is_empty() {
        out.push('\n');
        let labels: Vec<String> = proposal.unplaced.iter().map(|label| cut(label)).collect();
        comment(&mut out, &format!("Columns without a field: {}", labels.join(", ")));
    }
    out
}

fn sheet(out: &mut String, proposal: &Proposal) {
    line(out, "\n[sheet]");
    if let Some(name) = &proposal.sheet {
        line(out, &format!("name = {}", quoted(name)));
    }
    match proposal.header {
        Some(row) if !proposal.has_header => {
            comment(
                out,
                "No row names the columns. The first row is taken for a header and is NOT sent: put a row of names above it,",
            );
            comment(out, "and make the template anew. Columns are named by their letters here.");
            line(out, &format!("header = {row}"));
        }
        Some(row) => line(out, &format!("header = {row}")),
        None => line(out, "header = \"auto\""),
    }
    for (key, value) in &proposal.reading {
        line(out, &format!("{key} = {}", quoted(value)));
    }
    if let Some(locale) = proposal.locales.sheet {
        match &proposal.locales.unclear {
            Some(example) => {
                comment(
                    out,
                    &format!(
                        "How numbers are written. A GUESS: {example} can be read in two ways. \"en\" reads 1,234.50, \"de\" reads \
                    1.234,50."
                    ),
                );
            }
            None => {
                comment(out, "How numbers are written, by the values: \"en\" reads 1,234.50, \"de\" reads 1.234,50.")
            }
        }
        line(out, &format!("locale = {}", quoted(locale)));
    }
    for skip in &proposal.skips {
        comment(out, &skip.why);
        comment(
            out,
            &format!("skip_where = {{ column = {}, matches = {} }}", called(&skip.column), quoted(&skip.matches)),
        );
    }
}

fn group(out: &mut String, proposal: &Proposal) {
    let Some(group) = &proposal.group else { return };
    out.push('\n');
    comment(
        out,
        &format!("Rows that agree here are the lines of one {} ({}: {}).", proposal.kind, group.sure, group.why),
    );
    line(out, "[group]");
    line(out, &format!("by = [{}]", called(&group.called)));
    if group.blank_is_above {
        comment(out, "A row without it belongs to the one above.");
        line(out, "on_blank = \"above\"");
    }
}

fn field(out: &mut String, proposed: &Proposed) {
    out.push('\n');
    comment(out, &format!("{}.", capital(proposed.doc)));
    comment(out, &format!("{}: {}.", capital(&proposed.sure.to_string()), proposed.why));
    line(out, &format!("[{}.{}]", table(proposed.place), proposed.field));
    match &proposed.from {
        From::Column { called: column, label, .. } => {
            let text = called(column);
            let remark = if text == quoted(label) { String::new() } else { format!("  # {}", shown(label)) };
            line(out, &format!("column = {text}{remark}"));
        }
        From::Constant(value) => line(out, &format!("value = {}", constant(value).unwrap_or_default())),
    }
    if !proposed.also.is_empty() {
        comment(
            out,
            &format!(
                "also possible: {}",
                proposed.also.iter().map(|label| quoted(label)).collect::<Vec<_>>().join(", ")
            ),
        );
    }
    for key in proposed.keys.iter().filter(|key| *key == "trim = true") {
        line(out, key);
    }
    for text in &proposed.comments {
        comment(out, text);
    }
    for key in proposed.keys.iter().filter(|key| *key != "trim = true") {
        line(out, key);
    }
    for draft in &proposed.drafts {
        line(out, &format!("# {draft}"));
    }
}

/// The table of a field that is needed and has no column, to be filled in.
fn draft(out: &mut String, place: Place, field: &str) {
    out.push('\n');
    comment(out, "Needed. Write the column's name, or value = \"…\" for what is the same in every row:");
    comment(out, &format!("[{}.{field}]", table(place)));
    comment(out, "column = \"…\"");
}

fn table(place: Place) -> &'static str {
    match place {
        Place::Line => "lines",
        Place::Id | Place::Record | Place::Option => "fields",
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

/// A remark, on as many lines as it needs. Nothing in it can end it.
fn comment(out: &mut String, text: &str) {
    let indent: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut width = 0;
    for word in shown(text).split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH {
            out.push('\n');
            width = 0;
        }
        let lead = if width == 0 { format!("# {indent}") } else { " ".to_owned() };
        let written = write!(out, "{lead}{word}");
        debug_assert!(written.is_ok(), "writing text to memory can't fail");
        width += lead.len() + length;
    }
    out.push('\n');
}

/// As much of a header as tells which it is.
fn cut(label: &str) -> String {
    const MOST: usize = 60;
    let mut cut: String = label.chars().take(MOST).collect();
    if cut.len() < label.len() {
        cut.push('…');
    }
    cut
}

/// A text without what a comment may not hold.
fn shown(text: &str) -> String {
    text.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
