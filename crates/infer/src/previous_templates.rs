//! The user's earlier templates: their assignments, with every step of each field.

use sheetport_mapping::header_names::HeaderNames;
use sheetport_mapping::model::{ColumnName, Constant, FieldRule, Place, RowTest, Source, Template};
use sheetport_records::{Field, RecordKind};
use sheetport_sheet::Cell;
use sheetport_values::date::DateFormat;

use super::headers::{Slot, Slots};
use super::sample::{Column, Sample};

/// Keys of a field for its source or origin. All other keys are steps.
const SOURCE_KEYS: [&str; 5] = ["column", "columns", "text", "value", "guess"];

/// Steps that change the text of a cell before it is read as a date.
const CHANGING_KEYS: [&str; 4] = ["replace", "split", "map", "lookup"];

/// An earlier template of the user.
#[derive(Clone, Debug)]
pub struct PreviousTemplate {
    /// Name shown to the user: a file or a run.
    pub(super) name: String,
    kind: RecordKind,
    rules: Vec<PreviousRule>,
    /// Names of the grouping column; none for a guess that nobody has confirmed.
    group_columns: Vec<String>,
    /// Keys of `[sheet]` about rows, with the alternative names of each column they use.
    sheet: Vec<(Step, Vec<Vec<String>>)>,
    duplicates: Option<Step>,
    /// `[[rules]]`, each with its fields.
    record_rules: Vec<WrittenRule>,
    /// Declarations of parameters, by name.
    parameters: Vec<(String, String)>,
}

/// A field of such a template.
#[derive(Clone, Debug)]
pub(super) struct PreviousRule {
    pub place: Place,
    pub field: &'static Field,
    pub source: PreviousSource,
    /// All other keys.
    pub steps: Vec<Step>,
    /// The formats of dates among the steps.
    formats: Vec<DateFormat>,
    /// The value, if taken from a parameter.
    parameter: Option<Step>,
    /// Whether it was a guess that nobody has confirmed.
    pub is_guess: bool,
}

/// The source of a value in an earlier template.
#[derive(Clone, Debug)]
pub(super) enum PreviousSource {
    /// Alternative names of a column.
    Column(Vec<String>),
    Constant(Constant),
    /// Several columns, each with alternative names, and the key as in the template.
    Computed {
        columns: Vec<Vec<String>>,
        key: Step,
    },
}

/// A rule of `[[rules]]`.
#[derive(Clone, Debug)]
pub(super) struct WrittenRule {
    pub toml: String,
    /// The fields in the condition.
    pub fields: Vec<(Place, &'static str)>,
}

/// A key of a template with its value as TOML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub key: String,
    pub value: String,
}

impl PreviousTemplate {
    /// Reads a template. `is_confirmed`: a person has confirmed its guesses; otherwise, they remain guesses.
    pub fn new(name: &str, template: &Template, is_confirmed: bool) -> PreviousTemplate {
        let source: toml::Table = template.source.parse().unwrap_or_default();
        let group = template.group.as_ref().filter(|group| is_confirmed || !group.is_guess);
        let by = group.map_or(Vec::new(), |group| group.by.concat());
        let sheet = table(&source, "sheet");
        let step = |table: Option<&toml::Table>, key: &str| Some(Step::new(key, table?.get(key)?));
        let fill_down = template.sheet.fill_down.as_ref().map_or(Vec::new(), |fill_down| {
            fill_down
                .columns
                .iter()
                .map(std::slice::from_ref)
                .chain(fill_down.within.iter().map(Vec::as_slice))
                .map(header_names)
                .collect()
        });
        let tested = |tests: &[RowTest]| -> Vec<Vec<String>> {
            let of = |tests: Vec<&RowTest>| tests.into_iter().flat_map(RowTest::columns).collect::<Vec<_>>();
            let needed = of(tests.iter().filter(|test| !test.optional).collect());
            // A sheet without any of the optional columns is not what they are about.
            let needed = if needed.is_empty() { vec![of(tests.iter().collect()).concat()] } else { needed };
            needed.iter().filter(|names| !names.is_empty()).map(|names| header_names(names)).collect()
        };
        let about_rows = [
            ("fill_down", fill_down),
            ("skip_where", tested(&template.sheet.skip_where)),
            ("keep_where", tested(template.sheet.keep_where.as_slice())),
            ("warn_where", tested(&template.sheet.warn_where)),
            ("time_zone", Vec::new()),
            ("currency", Vec::new()),
            ("locale", Vec::new()),
        ];
        PreviousTemplate {
            name: name.to_owned(),
            kind: template.record,
            rules: template.rules().filter_map(|rule| PreviousRule::new(rule, &source, is_confirmed)).collect(),
            group_columns: header_names(&by),
            sheet: about_rows.into_iter().filter_map(|(key, columns)| Some((step(sheet, key)?, columns))).collect(),
            duplicates: step(Some(&source), "duplicates"),
            record_rules: record_rules(template, &source),
            parameters: table(&source, "parameters").map_or(Vec::new(), |declared| {
                declared.iter().map(|(name, value)| (name.clone(), value.to_string())).collect()
            }),
        }
    }

    /// Returns `[[rules]]`.
    pub(super) fn record_rules(&self) -> &[WrittenRule] {
        &self.record_rules
    }

    /// Returns the parameters used in a TOML text, each with its declaration.
    pub(super) fn parameters_in<'a>(&'a self, toml: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let is_named = |(name, _): &&(String, String)| {
            let names =
                [format!("parameter = \"{name}\""), format!("param('{name}')"), format!("param(\\\"{name}\\\")")];
            names.iter().any(|named| toml.contains(named))
        };
        self.parameters.iter().filter(is_named).map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the rule of a field, if the template is for this kind of record.
    pub(super) fn rule(&self, kind: RecordKind, place: Place, field: &str) -> Option<&PreviousRule> {
        self.rules.iter().find(|rule| self.kind == kind && rule.place == place && rule.field.name == field)
    }

    /// Returns the rules with a constant, if the template is for this kind of record.
    pub(super) fn constants(&self, kind: RecordKind) -> impl Iterator<Item = (&PreviousRule, &Constant)> {
        self.rules.iter().filter_map(move |rule| match &rule.source {
            PreviousSource::Constant(constant) if self.kind == kind => Some((rule, constant)),
            _ => None,
        })
    }

    /// Returns the assignments of the template, if the template is for this kind of record.
    pub(super) fn assignments<'a>(&self, slots: &'a Slots, columns: &'a [Column]) -> Vec<(&'a Slot, &'a Column)> {
        if slots.kind != self.kind {
            return Vec::new();
        }
        let fields = self.rules.iter().filter_map(|rule| match &rule.source {
            PreviousSource::Column(names) => Some((slots.find(rule.place, rule.field.name)?, find(names, columns)?)),
            _ => None,
        });
        fields.chain(slots.group().zip(find(&self.group_columns, columns))).collect()
    }

    /// Returns the fields with a value from several columns, if the sheet has all of these.
    pub(super) fn computed<'a>(
        &self,
        slots: &'a Slots,
        columns: &'a [Column],
    ) -> Vec<(&'a Slot, &Step, Vec<&'a Column>)> {
        let rules = self.rules.iter().filter(|_| slots.kind == self.kind);
        let computed = rules.filter_map(|rule| match &rule.source {
            PreviousSource::Computed { columns: names, key } => {
                Some((slots.find(rule.place, rule.field.name)?, key, find_all(names, columns)?))
            }
            _ => None,
        });
        computed.collect()
    }

    /// Returns the keys about rows whose columns are in the sheet.
    pub(super) fn sheet_steps<'a>(&'a self, columns: &[Column]) -> impl Iterator<Item = &'a Step> {
        self.sheet.iter().filter(|(_, names)| find_all(names, columns).is_some()).map(|(step, _)| step)
    }

    pub(super) fn duplicates(&self) -> Option<&Step> {
        self.duplicates.as_ref()
    }
}

impl PreviousRule {
    fn new(rule: &FieldRule, template: &toml::Table, is_confirmed: bool) -> Option<PreviousRule> {
        let fields = table(template, if rule.place == Place::Line { "lines" } else { "fields" });
        let written = table(fields?, rule.field.name)?;
        let key = |key: &str| Some(Step::new(key, written.get(key)?));
        let mut steps: Vec<Step> = Vec::new();
        let others = written.iter().filter(|(key, _)| !SOURCE_KEYS.contains(&key.as_str()));
        steps.extend(others.map(|(key, value)| Step::new(key, value)));
        let source = match &rule.source {
            Source::Column(columns) => PreviousSource::Column(header_names(columns)),
            Source::Constant(constant) => PreviousSource::Constant(constant.clone()),
            Source::Joined { columns, .. } => PreviousSource::Computed {
                columns: columns.iter().map(|alternatives| header_names(alternatives)).collect(),
                key: key("columns")?,
            },
            Source::Text { expression, .. } => PreviousSource::Computed {
                columns: expression.columns().iter().map(|column| vec![column.clone()]).collect(),
                key: key("text")?,
            },
        };
        let parameter = key("value").filter(|step| step.value.contains("parameter"));
        let formats = rule.date.formats.clone();
        let is_guess = rule.is_guess && !is_confirmed;
        Some(PreviousRule { place: rule.place, field: rule.field, source, steps, formats, parameter, is_guess })
    }

    /// Returns the line of a constant with the value of a parameter.
    pub(super) fn parameter_line(&self) -> Option<String> {
        self.parameter.as_ref().map(Step::line)
    }

    /// Returns the steps, without formats of dates that fit no cell of the column.
    pub(super) fn steps_for(&self, sample: &Sample, column: &Column) -> Vec<&Step> {
        // The formats are for what the other steps make of a cell.
        let is_changed = self.steps.iter().any(|step| CHANGING_KEYS.contains(&step.key.as_str()));
        let fits = |step: &&Step| is_changed || step.key != "format" || fits_dates(&self.formats, sample, column);
        self.steps.iter().filter(fits).collect()
    }
}

impl Step {
    fn new(key: &str, value: &toml::Value) -> Step {
        Step { key: key.to_owned(), value: value.to_string() }
    }

    /// Returns the step as a line of TOML.
    pub(super) fn line(&self) -> String {
        format!("{} = {}", self.key, self.value)
    }
}

/// Whether one of the formats fits a cell of the column, or no cell needs a format.
fn fits_dates(formats: &[DateFormat], sample: &Sample, column: &Column) -> bool {
    let cells = sample.rows.iter().map(|row| row.get(column.index));
    let is_text = |cell: &Cell<'_>| matches!(cell, Cell::Text(text) if !text.trim().is_empty());
    let mut texts =
        cells.filter(|cell| is_text(cell) || matches!(cell, Cell::Number(_) | Cell::Rounded(..))).peekable();
    texts.peek().is_none() || texts.any(|cell| formats.iter().any(|format| format.parse_date(&cell.shown()).is_ok()))
}

/// Returns the column as in binding, unless two columns have the name.
fn find<'a>(names: &[String], columns: &'a [Column]) -> Option<&'a Column> {
    let headers = HeaderNames::new(columns.iter().map(|column| column.bound_header.as_str()));
    match headers.find(names.iter().map(String::as_str)) {
        [column] => columns.get(*column),
        _ => None,
    }
}

fn find_all<'a>(columns: &[Vec<String>], sheet: &'a [Column]) -> Option<Vec<&'a Column>> {
    columns.iter().map(|names| find(names, sheet)).collect()
}

fn record_rules(template: &Template, source: &toml::Table) -> Vec<WrittenRule> {
    let written = source.get("rules").and_then(toml::Value::as_array);
    let rules = template.record_rules.iter().zip(written.into_iter().flatten());
    let with_fields = rules.filter_map(|(rule, written)| {
        let keys = written.as_table()?.iter().map(|(key, value)| Step::new(key, value).line());
        let toml = std::iter::once("[[rules]]".to_owned()).chain(keys).collect::<Vec<_>>().join("\n");
        let fields = rule.fields.iter().filter_map(|index| template.rule(*index));
        Some(WrittenRule { toml, fields: fields.map(|rule| (rule.place, rule.field.name)).collect() })
    });
    with_fields.collect()
}

fn table<'a>(table: &'a toml::Table, key: &str) -> Option<&'a toml::Table> {
    table.get(key)?.as_table()
}

fn header_names(columns: &[ColumnName]) -> Vec<String> {
    let named = columns.iter().filter_map(ColumnName::name).map(str::to_owned);
    named.collect()
}

#[cfg(test)]
mod tests {
    use sheetport_mapping::load::{load, no_tables};
    use sheetport_sheet::{Cell, Row};

    use super::super::{Context, Proposal, Sample, propose};
    use super::*;

    const EARLIER: &str = r#"record = "item"
duplicates = "last"

[sheet]
skip_where = { column = "Artikelnr", matches = "^Summe" }
time_zone = "Europe/Berlin"

[fields.externalId]
column = ["Matchcode", "Artikelnr"]
replace = [{ pattern = "^A", with = "B" }]
pattern = "^B"

[fields.name]
text = "{{ Bezeichnung }} {{ Farbe }}"

[fields.price]
column = "VK Cent"
scale = 0.01
round = 2

[fields.tax]
column = "Steuer"
percent = "fraction"

[fields.status]
column = "Kennzeichen"
split = { at = "-", take = 2 }
map = { A = "active", B = "archived" }
on_blank = "null"

[fields.currency]
value = "CHF"
"#;

    fn proposed(earlier: &str, sheet: &str) -> Proposal {
        proposed_as(RecordKind::Item, earlier, sheet)
    }

    fn proposed_as(kind: RecordKind, earlier: &str, sheet: &str) -> Proposal {
        let template = load("mine.toml", earlier, &no_tables).expect("a template");
        let previous = vec![PreviousTemplate::new("mine.toml", &template, false)];
        let rows = sheet.lines().enumerate().map(|(index, line)| {
            let mut row = Row::default();
            row.clear(index as u64 + 1);
            line.split('|').for_each(|cell| row.push(if cell.is_empty() { Cell::Blank } else { Cell::Text(cell) }));
            row
        });
        let sample = Sample::new(rows.collect(), kind);
        propose(kind, &sample, &Context { file: "sheet.csv".to_owned(), previous: &previous, ..Context::default() })
    }

    #[test]
    fn a_format_of_dates_is_carried_over_if_it_fits_a_cell() {
        let earlier = "record = \"order\"\n[fields.externalId]\ncolumn = \"Nr\"\n\
                       [fields.orderAt]\ncolumn = \"Datum\"\nformat = [\"DD.MM.YYYY\", \"D/M/YYYY\"]\ntime_zone = \"UTC\"\n";
        let formats = |dates: [&str; 2]| -> Vec<String> {
            let [one, other] = dates;
            let found = proposed_as(RecordKind::Order, earlier, &format!("Nr|Datum\n7|{one}\n8|{other}"));
            assert!(found.toml.contains("time_zone = \"UTC\""), "{}", found.toml);
            found.toml.lines().filter(|line| line.starts_with("format")).map(str::to_owned).collect()
        };
        let both = ["format = [\"DD.MM.YYYY\", \"D/M/YYYY\"]".to_owned()];
        assert_eq!(formats(["31.01.2026", "2026-02-01"]), both);
        assert_eq!(formats(["", ""]), both);
        assert_eq!(formats(["2026/01/31", "2026/02/01"]), ["format = \"YYYY/MM/DD\""]);
    }

    #[test]
    fn every_step_of_an_earlier_template_is_carried_over() {
        let sheet = "Artikelnr|Bezeichnung|Farbe|VK Cent|Steuer|Kennzeichen\n\
                     A1|Bolzen|rot|1250|19%|x-A\nA2|Mutter|blau|350|7%|x-B";
        let found = proposed(EARLIER, sheet);
        for line in [
            "duplicates = \"last\"",
            "time_zone = \"Europe/Berlin\"",
            "skip_where = { column = \"Artikelnr\", matches = \"^Summe\" }",
            "column = \"Artikelnr\"",
            "replace = [{ pattern = \"^A\", with = \"B\" }]",
            "pattern = \"^B\"",
            "text = \"{{ Bezeichnung }} {{ Farbe }}\"",
            "scale = 0.01",
            "round = 2",
            "percent = \"fraction\"",
            "split = { at = \"-\", take = 2 }",
            "map = { A = \"active\", B = \"archived\" }",
            "on_blank = \"null\"",
            "value = \"CHF\"",
        ] {
            assert!(found.toml.lines().any(|other| other == line), "no {line} in\n{}", found.toml);
        }
        assert!(found.fields.iter().all(|field| field.confidence.to_string() == "as in mine.toml"));
        assert!(found.unplaced.is_empty(), "{:?}", found.unplaced);
        load("proposal", &found.toml, &no_tables).expect("a template that loads");
    }

    #[test]
    fn a_column_of_commands_is_carried_over() {
        let fields = "record = \"item\"\n[fields.externalId]\ncolumn = \"Nr\"\n[fields.command]\n";
        let steps = "column = \"Vorgang\"\ndefault = \"update\"\nmap = { L = \"skip\", N = \"create\" }\n";
        // Another column with such a name is no status.
        let found = proposed(&format!("{fields}{steps}"), "Nr|Vorgang|Command\nA1|N|skip\nA2|L|new\nA3||new");
        let written: Vec<&str> = found.toml.lines().skip_while(|line| *line != "[fields.command]").take(4).collect();
        assert_eq!(written[1..].join("\n") + "\n", steps, "{}", found.toml);
        let command = found.fields.iter().find(|field| field.path() == "command").expect("a command");
        assert_eq!(command.confidence.to_string(), "as in mine.toml");
        assert_eq!(found.unplaced, ["Command"]);
        assert!(load("proposal", &found.toml, &no_tables).expect("a template that loads").has_commands());
        // Without the column, the rows are not decided by anything.
        let found = proposed(&format!("{fields}{steps}"), "Nr|Name\nA1|Bolzen\nA2|Mutter");
        assert!(!found.toml.contains("command"), "{}", found.toml);
        let found = proposed(&format!("{fields}value = \"update\"\n"), "Nr|Name\nA1|Bolzen\nA2|Mutter");
        assert!(found.toml.contains("[fields.command]\nvalue = \"update\"\n"), "{}", found.toml);
    }

    #[test]
    fn an_expression_with_a_missing_column_is_not_carried_over() {
        let found = proposed(EARLIER, "Matchcode|Bezeichnung|VK Cent\nA1|Bolzen|1250\nA2|Mutter|350");
        let name = found.fields.iter().find(|field| field.path() == "name").expect("a name");
        assert_eq!((name.source.label().as_str(), name.confidence.to_string().as_str()), ("Bezeichnung", "sure"));
        assert!(!found.toml.contains("Summe"), "{}", found.toml);
    }

    #[test]
    fn rules_checks_conditions_and_parameters_are_carried_over() {
        let earlier = r#"record = "item"
[parameters]
factor = { default = 2, description = "markup" }
unused = { default = "x" }
currency = { default = "CHF" }
[sheet]
locale = "de"
keep_where = 'VK > 0 and Kennzeichen != "x"'
[fields.externalId]
column = "Artikelnr"
check = "ean13"
[fields.name]
column = "Bezeichnung"
unique = true
[fields.price]
column = "VK"
scale = { parameter = "factor" }
[fields.purchasePrice]
column = "EK"
optional = true
[fields.currency]
value = { parameter = "currency" }
[[rules]]
rule = "price > 1"
severity = "warning"
message = "cheap"
[[rules]]
rule = "price >= purchasePrice"
"#;
        let found = proposed(
            earlier,
            "Artikelnr|Bezeichnung|VK|Kennzeichen\n4006381333931|Bolzen|12,50|A\n73513537|Mutter|3|B",
        );
        for line in [
            "[parameters]",
            "factor = { default = 2, description = \"markup\" }",
            "keep_where = 'VK > 0 and Kennzeichen != \"x\"'",
            "locale = \"de\"",
            "check = \"ean13\"",
            "unique = true",
            "scale = { parameter = \"factor\" }",
            "value = { parameter = \"currency\" }",
            "rule = \"price > 1\"",
            "severity = \"warning\"",
            "message = \"cheap\"",
        ] {
            assert!(found.toml.lines().any(|other| other == line), "no {line} in\n{}", found.toml);
        }
        assert!(!found.toml.contains("purchasePrice") && !found.toml.contains("unused"), "{}", found.toml);
        let template = load("proposal", &found.toml, &no_tables).expect("a template that loads");
        assert_eq!(template.examples.len(), 1, "{}", found.toml);
    }
}
