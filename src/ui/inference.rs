//! The columns chosen by `template infer`, as a table on stderr, because the template may be on stdout.

use sheetport_infer::{Confidence, FieldProposal, Proposal, ProposedSource};
use sheetport_language::{message, say, word};
use sheetport_operations::review::OpenField;

use super::{columns, remark, style, terminal};

/// Width at which headers are cut.
const MAX_WIDTH: usize = 36;

/// Prints each field and the chosen column, then the unused columns and remarks.
pub fn print(proposal: &Proposal) {
    let (strong, faint) = (style::STRONG, style::FAINT);
    let fields: Vec<&FieldProposal> = proposal.fields.iter().chain(&proposal.grouped_by).collect();
    let rows: Vec<[String; 4]> = fields.iter().map(|proposed| cells(proposed)).collect();
    let heads = ["column", "field", "sureness", "why"].map(|title| word(title).to_owned());
    let width = |at: usize| rows.iter().chain([&heads]).map(|row| columns::width(&row[at])).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let widest = rows.iter().map(|row| columns::width(&row[3])).max().unwrap_or(0) + widths.iter().sum::<usize>() + 6;
    let fits = terminal::stderr_width().is_none_or(|columns| widest <= columns);
    let is_table = fits && !terminal::is_plain();
    let line = |row: &[String; 4]| {
        let [column, field, sure, why] = row;
        if !is_table {
            return format!("{column}: {field}, {sure}, {why}");
        }
        let [a, b, c] = widths;
        format!("{}  {field:<b$}  {sure:<c$}  {why}", columns::padded(column, a))
    };
    if proposal.is_kind_guess {
        let plural = proposal.kind.input().plural;
        remark(say!("{}the rows are taken for {plural}: a guess{:#}", style::DOUBT, style::DOUBT));
    }
    if rows.is_empty() {
        remark(say!("no column looks like a field of {}", proposal.kind));
    } else if is_table {
        remark(format_args!("{strong}{}{strong:#}", line(&heads)));
    }
    for (row, proposed) in rows.iter().zip(&fields) {
        match proposed.confidence {
            Confidence::Guess => remark(format_args!("{}{}{:#}", style::DOUBT, line(row), style::DOUBT)),
            _ => remark(line(row)),
        }
    }
    if !proposal.unplaced.is_empty() {
        let unplaced: Vec<String> = proposal.unplaced.iter().map(|label| columns::cut(label, MAX_WIDTH)).collect();
        for line in super::short_list("", "not used:", &unplaced) {
            remark(format_args!("{faint}{line}{faint:#}"));
        }
    }
    for words in &proposal.warnings {
        remark(say!("{}note{:#}: {}", style::DOUBT, style::DOUBT, message(words)));
    }
}

/// Prints what a field may be, numbered from 1, with the first values of each.
pub fn print_choices(field: &OpenField) {
    /// Width at which a value is cut.
    const MAX_VALUE: usize = 20;
    remark(say!("Where is {}?", field.path));
    let labels: Vec<String> = field.choices.iter().map(|choice| columns::cut(&choice.label, MAX_WIDTH)).collect();
    let width = labels.iter().map(|label| columns::width(label)).max().unwrap_or_default();
    for (number, (label, choice)) in (1..).zip(labels.iter().zip(&field.choices)) {
        let samples: Vec<String> = choice.samples.iter().map(|sample| columns::cut(sample, MAX_VALUE)).collect();
        remark(format_args!("  {number}  {}  {}", columns::padded(label, width), samples.join("; ")));
    }
}

fn cells(proposed: &FieldProposal) -> [String; 4] {
    let column = match &proposed.source {
        ProposedSource::Column { label, .. } => columns::cut(label, MAX_WIDTH),
        ProposedSource::Constant(_) | ProposedSource::Computed { .. } => {
            format!("= {}", columns::cut(&proposed.source.label(), MAX_WIDTH))
        }
    };
    [column, proposed.path(), word(&proposed.confidence.to_string()).to_owned(), message(&proposed.reason).into_owned()]
}
