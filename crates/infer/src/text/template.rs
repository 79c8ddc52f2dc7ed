//! Writes a proposal as a template with comments for the reader.

use sheetport_documents::write::{is_interpreted, key, quoted};
use sheetport_mapping::load::VERSION;
use sheetport_mapping::model::Place;
use sheetport_records::RecordKind;

use super::super::context::Context;
use super::super::previous_templates::{PreviousTemplate, Step};
use super::super::proposal::{Confidence, FieldProposal, GroupProposal, MissingField, ProposedSource, SkipProposal};
use super::super::record_layout::fill_down::FillDownProposal;
use super::super::record_layout::unpivot::UnpivotProposal;
use super::super::sample::{Column, Sample};
use super::super::toml_text::{column, constant};

/// Comments are wrapped at this column.
const MAX_WIDTH: usize = 110;

/// All parts of a template.
pub(crate) struct TemplateText<'a> {
    pub kind: RecordKind,
    pub is_kind_guess: bool,
    pub context: &'a Context<'a>,
    pub sample: &'a Sample,
    pub fields: &'a [FieldProposal],
    pub missing: &'a [MissingField],
    pub group: Option<&'a GroupProposal>,
    pub skips: &'a [SkipProposal],
    pub fill_down: Option<&'a FillDownProposal<'a>>,
    pub unpivot: Option<&'a UnpivotProposal<'a>>,
    pub unplaced: &'a [String],
    /// Keys at the top, and keys of `[sheet]`, of earlier templates.
    pub previous_top: &'a [Step],
    pub previous_sheet: &'a [(&'a str, &'a Step)],
    /// `[[rules]]` of earlier templates, each with the name of its template.
    pub previous_rules: &'a [(&'a str, &'a str)],
    /// `[[rules]]` about the sign of quantities.
    pub rule_of_signs: Option<&'a str>,
    /// The earlier templates of the proposal.
    pub used: &'a [&'a PreviousTemplate],
}

impl TemplateText<'_> {
    /// Returns the template with `header_row`, or with `header = "auto"`. Each line ends with a newline.
    pub(crate) fn to_toml(&self, header_row: Option<u64>) -> String {
        let mut out = Writer(String::new());
        self.introduction(&mut out);
        self.sheet(&mut out, header_row);
        self.unpivot(&mut out);
        self.group(&mut out);
        self.fields(&mut out, false);
        let needs_currency = self.kind.input().field("currency").is_some();
        if needs_currency && !self.fields.iter().any(|field| field.name == "currency") {
            out.line("");
            out.comment("No currency was found. If your workspace needs one:");
            out.comment("[fields.currency]");
            out.comment("value = \"EUR\"");
        }
        self.fields(&mut out, true);
        for (template, rule) in self.previous_rules {
            out.line("");
            out.comment(&format!("As in {template}:"));
            out.line(rule);
        }
        if let Some(rule) = self.rule_of_signs {
            out.line("");
            out.line(rule);
        }
        if !self.unplaced.is_empty() {
            let labels: Vec<String> = self.unplaced.iter().map(|label| shortened(label)).collect();
            out.line("");
            out.comment(&format!("Columns not used: {}", labels.join(", ")));
        }
        self.with_parameters(out.0)
    }

    /// Inserts the parameters of earlier templates used in the text before the first table, as `template fmt` does.
    fn with_parameters(&self, text: String) -> String {
        let mut known: Vec<&str> = Vec::new();
        let mut parameters = String::new();
        for template in self.used {
            for (name, value) in template.parameters_in(&text) {
                if !known.contains(&name) {
                    known.push(name);
                    parameters.push_str(&format!("{} = {value}\n", key(name)));
                }
            }
        }
        match text.find("\n[sheet]") {
            Some(at) if !parameters.is_empty() => format!("{}\n[parameters]\n{parameters}{}", &text[..at], &text[at..]),
            _ => text,
        }
    }

    fn introduction(&self, out: &mut Writer) {
        let plural = self.kind.input().plural;
        out.comment(&format!(
            "Maps the columns of {} to the fields of {plural}. Proposed by sheetport from the column names and the first values: \
             check every field, and change the wrong ones.",
            self.context.file
        ));
        out.comment("Each field says how certain the proposal is: sure, likely or a guess. Lines that start with # are comments.");
        if !self.missing.is_empty() {
            out.line("");
            out.comment("NOT COMPLETE. The service needs fields for which no column was found:");
            for missing in self.missing {
                out.comment(&format!("  {}: {}", missing.path(), missing.field.doc));
            }
            out.comment("Fill in their tables below and remove the #, then run sheetport template check.");
        }
        out.line("");
        out.line(&format!("sheetport = {VERSION}"));
        out.line(&format!("record = {}", quoted(self.kind.name())));
        if self.is_kind_guess {
            out.line(&format!("record_guess = true  # delete this line if the rows are {plural}"));
        }
        let description = format!("{} from {}", capitalized(plural), self.context.file);
        out.line(&format!("description = {}", quoted(&description)));
        self.previous_top.iter().for_each(|step| out.line(&step.line()));
    }

    fn sheet(&self, out: &mut Writer, header_row: Option<u64>) {
        out.line("");
        out.line("[sheet]");
        if let Some(name) = &self.context.sheet {
            out.line(&format!("name = {}", quoted(name)));
        }
        if header_row.is_some() && !self.sample.has_header {
            out.comment(
                "No row names the columns, so they have their letters here. The first row counts as the header and is NOT sent: \
                 add a row of names above it, and create the template again.",
            );
        }
        out.line(&header_row.map_or("header = \"auto\"".to_owned(), |row| format!("header = {row}")));
        for (key, value) in self.context.reading {
            out.line(&format!("{key} = {}", quoted(value)));
        }
        for (template, step) in self.previous_sheet {
            out.comment(&format!("As in {template}:"));
            out.line(&step.line());
        }
        let is_given = |key: &str| self.previous_sheet.iter().any(|(_, step)| step.key == key);
        if let Some(proposal) = self.fill_down.filter(|_| !is_given("fill_down")) {
            fill_down(proposal, out);
        }
        for SkipProposal { comment, column: name, pattern, is_certain } in self.skips {
            out.comment(comment);
            let line = format!("skip_where = {{ column = {}, matches = {} }}", column(name), quoted(pattern));
            if *is_certain && !is_given("skip_where") {
                out.line(&line);
            } else {
                out.comment(&line);
            }
        }
    }

    fn unpivot(&self, out: &mut Writer) {
        let Some(UnpivotProposal { columns, header_as, value_as }) = self.unpivot else { return };
        let columns: Vec<String> = columns.iter().map(|it| column(&it.name)).collect();
        out.line("");
        out.comment("Each filled cell of these columns is a record of its own. Check the guesses below.");
        out.line("[unpivot]");
        out.line(&format!("columns = [{}]", columns.join(", ")));
        out.line(&format!("header_as = {}", quoted(header_as)));
        out.line(&format!("value_as = {}", quoted(value_as)));
    }

    fn group(&self, out: &mut Writer) {
        let Some(GroupProposal { column: proposal, blank_is_above }) = self.group else { return };
        let FieldProposal { source: ProposedSource::Column { name, .. }, confidence, reason, .. } = proposal else {
            return;
        };
        out.line("");
        let kind = self.kind;
        out.comment(&format!("Rows with the same value are the lines of one {kind} ({confidence}: {reason})."));
        out.line("[group]");
        out.line(&format!("by = [{}]", column(name)));
        out.mark(confidence);
        if *blank_is_above {
            out.comment("A row without a value belongs to the row above.");
            out.line("on_blank = \"above\"");
        }
    }

    /// Writes the fields of the record or of lines, beginning with missing fields.
    fn fields(&self, out: &mut Writer, of_lines: bool) {
        for missing in self.missing.iter().filter(|missing| (missing.place == Place::Line) == of_lines) {
            out.line("");
            out.comment("Required. Fill in the column's name, or write value = \"…\" for a constant:");
            if missing.unique_names().is_some() {
                out.comment(
                    "There are no codes. The names are unique, so that they can identify the records, but a renamed one becomes a new \
                     one:",
                );
            } else if !missing.candidates.is_empty() {
                out.comment("The values of this column differ in each row:");
            }
            out.comment(&format!("[{}.{}]", table(missing.place), missing.field.name));
            for candidate in &missing.candidates {
                out.comment(&format!("column = {}", column(&candidate.name)));
            }
            if missing.candidates.is_empty() {
                out.comment("column = \"…\"");
            }
        }
        let fields = self.fields.iter().filter(|field| (field.place == Place::Line) == of_lines);
        fields.for_each(|field| out.field(field, &self.sample.columns));
    }
}

fn fill_down(proposal: &FillDownProposal<'_>, out: &mut Writer) {
    let FillDownProposal { columns, within, is_certain } = proposal;
    let columns: Vec<String> = columns.iter().map(|it| column(&it.name)).collect();
    let columns = columns.join(", ");
    let line = match within {
        Some(within) => format!("fill_down = {{ columns = [{columns}], within = {} }}", column(&within.name)),
        None => format!("fill_down = [{columns}]"),
    };
    if *is_certain {
        out.comment(
            "These columns have a value in the first of several rows only. Their blank cells get the value above.",
        );
        out.line(&line);
    } else {
        out.comment("Some rows have no name. If it is the name above, remove the #:");
        out.comment(&line);
    }
}

struct Writer(String);

impl Writer {
    fn field(&mut self, field: &FieldProposal, columns: &[Column]) {
        let FieldProposal { name, doc, place, source, reason, confidence, .. } = field;
        self.line("");
        self.comment(&format!("{}.", capitalized(doc)));
        self.comment(&format!("{}: {reason}.", capitalized(&confidence.to_string())));
        self.line(&format!("[{}.{name}]", table(*place)));
        match source {
            ProposedSource::Column { name, label, .. } => {
                let name = column(name);
                let comment =
                    if name == quoted(label) { String::new() } else { format!("  # {}", without_invisible(label)) };
                self.line(&format!("column = {name}{comment}"));
            }
            ProposedSource::Computed { line, .. } => self.line(line),
            ProposedSource::Constant(value) => {
                let value = constant(value).expect("only constants that TOML has are proposed");
                self.line(&format!("value = {value}"));
            }
        }
        if !field.alternatives.is_empty() {
            let others = columns.iter().filter(|column| field.alternatives.contains(&column.index));
            let labels: Vec<String> = others.map(|column| quoted(&column.label)).collect();
            self.comment(&format!("also possible: {}", labels.join(", ")));
        }
        if field.trim {
            self.line("trim = true");
        }
        field.comments.iter().for_each(|text| self.comment(text));
        field.keys.iter().for_each(|key| self.line(key));
        self.mark(confidence);
        field.drafts.iter().for_each(|draft| self.line(&format!("# {draft}")));
    }

    /// Marks a guess, for people to confirm.
    fn mark(&mut self, confidence: &Confidence) {
        if *confidence == Confidence::Guess {
            self.line("guess = true  # delete this line if it is right");
        }
    }

    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// Writes a comment, wrapped and with the indentation of `text` on each line. No text can end the comment early.
    fn comment(&mut self, text: &str) {
        let indent: String = text.chars().take_while(|c| *c == ' ').collect();
        let mut line = format!("# {indent}");
        let mut is_empty = true;
        for word in without_invisible(text).split_whitespace() {
            if !is_empty && line.chars().count() + 1 + word.chars().count() > MAX_WIDTH {
                self.line(&line);
                line = format!("# {indent}");
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
        self.line(&line);
    }
}

fn table(place: Place) -> &'static str {
    match place {
        Place::Line => "lines",
        Place::Id | Place::Record | Place::Option | Place::Command => "fields",
    }
}

fn shortened(label: &str) -> String {
    const MAX_CHARS: usize = 60;
    let mut shortened: String = label.chars().take(MAX_CHARS).collect();
    if shortened.len() < label.len() {
        shortened.push('…');
    }
    shortened
}

fn without_invisible(text: &str) -> String {
    text.chars().map(|c| if is_interpreted(c) { ' ' } else { c }).collect()
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
