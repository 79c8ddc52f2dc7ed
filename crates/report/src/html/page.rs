//! The page around the rows: the head with the security policy, and the body with the summary of the run. The templates
//! escape all inserted text.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use minijinja::{Value, context};
use sha2::{Digest, Sha256};
use sheetport_files::visible::visible;
use sheetport_language::{Language, say_in};
use sheetport_ledger::{Accounting, Causes, Group, RecordState, Run, RunCommand, WARNED};
use sheetport_sheet::column_letters;
use sheetport_values::date::local_zone;

use super::cut::cut;
use super::data::{FIRST_WARNING, PageTotals, PlainRow};
use super::texts;
use crate::error::Error;
use crate::options::{ACCEPTED_IN_REHEARSAL, IN_REHEARSAL, READY_TO_SEND, Request, RowFilter};

const HEAD: &str = include_str!("page/head.html");
const BODY: &str = include_str!("page/body.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Number of causes shown initially.
const CAUSES_OPEN: usize = 8;
/// Maximum length of a cause's value, in characters.
const MAX_VALUE: usize = 60;
/// Minimum width of a segment of the bar in percent, to keep a single failure among thousands visible.
const MIN_WIDTH: f64 = 0.8;

/// Renders the page before the rows.
pub(super) fn head(run: &Run, accounting: &Accounting, language: Language) -> Result<String, Error> {
    let (style, script) = (normalize_line_endings(STYLE), normalize_line_endings(SCRIPT));
    // Load nothing, and run only this script.
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&style),
        hash(&script)
    );
    let problems = states(run, accounting).into_iter().filter(|state| state.is_problem);
    let problems: Vec<String> = problems.map(|state| state.in_words(language)).collect();
    let values = context! {
        language => language.tag(),
        policy => policy,
        style => Value::from_safe_string(style),
        title => visible(&file_name(run)),
        problems => problems.join(", "),
    };
    Ok(texts::render("head.html", HEAD, values, language)?)
}

/// Returns the texts of the script, in English and in another language.
pub(super) fn script_texts(language: Language) -> BTreeMap<&'static str, &'static str> {
    texts::of_script(SCRIPT, language)
}

/// Renders the page after the rows.
pub(super) fn body(
    run: &Run,
    accounting: &Accounting,
    request: &Request<'_>,
    totals: &PageTotals,
    language: Language,
) -> Result<String, Error> {
    let (thousands, counted) = (|number| language.thousands(number), |number, noun| language.counted(number, noun));
    let states = states(run, accounting);
    let problems: u64 = states.iter().filter(|state| state.is_problem).map(|state| state.count).sum();
    let of_run = request.is_kept.then_some(run.id);
    let all = of_run.map(|id| format!("sheetport report {id} -o report-{id}.csv --only {}", request.rows.name()));
    let values = context! {
        script => Value::from_safe_string(normalize_line_endings(SCRIPT)),
        run => of_run,
        is_check => run.about.command == RunCommand::Check,
        is_rehearsal => run.about.command == RunCommand::Rehearse,
        title => visible(&file_name(run)),
        facts => facts(run, accounting, of_run.is_some(), language),
        stopped => run.stopped_why.as_deref().map(visible),
        total => counted(accounting.total, "record"),
        source_rows => counted(accounting.rows, "row"),
        problems => (problems > 0).then(|| thousands(problems)),
        problems_are_many => problems != 1,
        states => states.iter().map(|state| state.value(request.rows, language)).collect::<Vec<_>>(),
        bar => bar(&states),
        in_words => in_words(&states, language),
        next => request.next.map(visible),
        sections => sections(run, totals, language),
        warned => (accounting.warned > 0).then(|| thousands(accounting.warned)),
        warned_name => language.word(WARNED.0),
        warned_meaning => language.label(WARNED.1),
        heading => heading(request.rows, language),
        rows => totals.rows,
        rows_shown => counted(totals.rows, "row"),
        rows_number => thousands(totals.rows),
        rows_in_all => (totals.left_out > 0).then(|| counted(totals.rows + totals.left_out, "row")),
        all => all,
        plain => totals.plain.iter().map(|row| plain(row, language)).collect::<Vec<_>>(),
        plain_is_all => totals.plain.len() as u64 == totals.rows,
        plain_rows => counted(totals.plain.len() as u64, "row"),
        version => env!("CARGO_PKG_VERSION"),
    };
    Ok(texts::render("body.html", BODY, values, language)?)
}

/// Normalizes line endings, which Git may change. Browsers do the same before hashing.
fn normalize_line_endings(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// A state and its number of records.
struct State {
    count: u64,
    name: &'static str,
    sign: &'static str,
    meaning: &'static str,
    is_problem: bool,
}

/// Symbols, in the order of [`Accounting::states`].
const SIGNS: [&str; 7] = ["✓", "=", "–", "▲", "✕", "?", "…"];

/// Returns the states of at least one record.
fn states(run: &Run, accounting: &Accounting) -> Vec<State> {
    // A check sends nothing, so pending records are not a problem.
    let is_check = run.about.command == RunCommand::Check;
    let state = |((state, count), sign): ((RecordState, u64), _)| {
        let can_be_sent = is_check && state == RecordState::Pending;
        let meaning = match (run.about.command, state) {
            _ if can_be_sent => READY_TO_SEND,
            (RunCommand::Rehearse, RecordState::Sent) => ACCEPTED_IN_REHEARSAL,
            _ => state.meaning(),
        };
        State { count, name: state.name(), sign, meaning, is_problem: state.is_problem() && !can_be_sent }
    };
    accounting.states().into_iter().zip(SIGNS).filter(|((_, count), _)| *count > 0).map(state).collect()
}

impl State {
    fn in_words(&self, language: Language) -> String {
        format!("{} {}", language.thousands(self.count), language.word(self.name))
    }

    fn value(&self, only: RowFilter, language: Language) -> Value {
        let is_here = match only {
            RowFilter::All => true,
            RowFilter::Problems => self.is_problem,
            RowFilter::Warned => true,
            RowFilter::State(state) => state.name() == self.name,
        };
        context! {
            count => language.thousands(self.count),
            name => self.name,
            word => language.word(self.name),
            sign => self.sign,
            meaning => language.label(self.meaning),
            is_here => is_here,
        }
    }
}

/// Returns the parts of the bar: start and width of each state, in percent.
fn bar(states: &[State]) -> Vec<Value> {
    let total: u64 = states.iter().map(|state| state.count).sum();
    let share = |state: &State| (state.count as f64 / total as f64 * 100.0).max(MIN_WIDTH);
    let all: f64 = states.iter().map(share).sum();
    let mut at = 0.0;
    let parts = states.iter().map(|state| {
        let width = share(state) / all * 100.0;
        at += width;
        context! {
            name => state.name,
            at => format!("{:.3}", at - width),
            width => format!("{width:.3}"),
        }
    });
    parts.collect()
}

fn in_words(states: &[State], language: Language) -> String {
    let words: Vec<String> = states.iter().map(|state| state.in_words(language)).collect();
    words.join(", ")
}

/// Returns facts about the run: names and values.
fn facts(run: &Run, accounting: &Accounting, is_kept: bool, language: Language) -> Vec<Value> {
    let about = &run.about;
    let sheet = about.sheet.name().unwrap_or(language.label("several"));
    let requests = language.thousands(accounting.requests);
    let requests = match accounting.retries {
        0 => requests,
        retries => say_in!(language, "{requests}, {} of them repeated", language.thousands(retries)),
    };
    let service = match about.command {
        RunCommand::Check => String::new(),
        RunCommand::Rehearse => language.label(IN_REHEARSAL).to_owned(),
        RunCommand::Upload | RunCommand::Retry | RunCommand::Undo => about.base_url.clone(),
    };
    let facts = [
        ("File", about.file.clone()),
        ("Sheet", sheet.to_owned()),
        ("Rows", about.chosen.map(|(first, last)| say_in!(language, "{first} to {last}")).unwrap_or_default()),
        ("Record", language.noun(about.record.name()).to_owned()),
        ("Template", about.template.clone()),
        ("Service", service),
        ("Workspace", about.workspace.clone()),
        ("Run", if is_kept { run.id.to_string() } else { String::new() }),
        ("Retry of", about.retry_of.map(|run| say_in!(language, "run {run}")).unwrap_or_default()),
        ("Requests", if accounting.requests > 0 { requests } else { String::new() }),
    ];
    let text = |(name, value): &(&str, String)| context! { name => language.label(name), value => visible(value) };
    let mut facts: Vec<Value> = facts.iter().filter(|(_, value)| !value.is_empty()).map(text).collect();
    let times = [("Started", Some(run.created_at)), ("Ended", run.finished_at)];
    facts.extend(times.iter().filter_map(|(name, millis)| {
        let time = jiff::Timestamp::from_millisecond((*millis)? / 1000 * 1000).ok()?;
        let form = if language.is_english() { "%-d %b %Y, %H:%M UTC%:z" } else { "%Y-%m-%d, %H:%M UTC%:z" };
        let value = time.to_zoned(local_zone()).strftime(form).to_string();
        Some(context! { name => language.label(name), value => value, time => time.to_string() })
    }));
    facts
}

/// Returns the lists of causes: problems, then warnings.
fn sections(run: &Run, totals: &PageTotals, language: Language) -> Vec<Value> {
    let mut warnings = totals.warnings.clone();
    run.warnings.iter().for_each(|warning| {
        warnings.add(warning.row.unwrap_or_default(), warning);
    });
    let lists =
        [("causes", "Problems by cause", &totals.causes, 0), ("warnings", "Warnings", &warnings, FIRST_WARNING)];
    let section = |(id, heading, list, first): (&str, &str, &Causes, usize)| {
        let (parts, ungrouped) = (causes(list, first, language), ungrouped(list, language));
        context! { id => id, heading => language.label(heading), parts => parts, ungrouped => ungrouped }
    };
    lists.into_iter().filter(|(_, _, list, _)| !list.is_empty()).map(section).collect()
}

/// Returns the largest causes, and the others as a second part.
fn causes(causes: &Causes, first: usize, language: Language) -> Vec<Value> {
    let causes: Vec<Value> = causes.groups().into_iter().map(|group| cause(group, first, language)).collect();
    let (open, more) = causes.split_at(causes.len().min(CAUSES_OPEN));
    let part = |causes: &[Value], is_more| {
        let in_words = language.counted(causes.len() as u64, "further cause");
        context! { entries => causes, is_more => is_more, entries_in_words => in_words }
    };
    let parts = [part(open, false), part(more, true)];
    parts.into_iter().zip([open, more]).filter(|(_, causes)| !causes.is_empty()).map(|(part, _)| part).collect()
}

fn cause(group: &Group, first: usize, language: Language) -> Value {
    let problem = &group.problem;
    let (value, is_all) = cut(&problem.value, MAX_VALUE);
    // The value is only an example, unless the value defines the cause.
    let such_as = group.count > 1 && !problem.code.is_by_value();
    let rows: Vec<String> = group.rows.iter().map(|row| language.thousands(*row)).collect();
    let more = group.count.saturating_sub(group.rows.len() as u64);
    context! {
        place => first + group.place,
        count => match group.rows.is_empty() {
            true => language.word("file").to_owned(),
            false => language.counted(group.count, "row"),
        },
        column => problem.column.map(column_letters),
        header => visible(if problem.header.is_empty() { &problem.field } else { &problem.header }),
        value => (!value.is_empty()).then(|| format!("{}{}", visible(value), if is_all { "" } else { "…" })),
        such_as => such_as,
        message => visible(&problem.message),
        remedy => visible(&problem.remedy),
        rows => rows.join(", "),
        is_one => group.count == 1,
        more => (more > 0).then(|| language.thousands(more)),
        sheet => visible(&problem.sheet),
    }
}

fn ungrouped(causes: &Causes, language: Language) -> Option<String> {
    (causes.ungrouped > 0).then(|| language.counted(causes.ungrouped, "further problem"))
}

fn plain(row: &PlainRow, language: Language) -> Value {
    context! {
        number => row.number,
        sheet => visible(&row.sheet),
        state => language.word(row.state.name()),
        words => visible(&row.words),
    }
}

fn heading(only: RowFilter, language: Language) -> String {
    match only {
        RowFilter::All => say_in!(language, "All rows"),
        RowFilter::Problems => say_in!(language, "Rows with a problem"),
        RowFilter::Warned => say_in!(language, "Rows with a warning"),
        RowFilter::State(state) => say_in!(language, "Rows that are {}", language.word(state.name())),
    }
}

fn file_name(run: &Run) -> String {
    let file = &run.about.file;
    Path::new(file).file_name().map_or_else(|| file.clone(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_never_inserts_markup_and_loads_nothing() {
        for markup in [".innerHTML", ".outerHTML", "insertAdjacentHTML", "document.write", "eval(", "</script", "<!--"]
        {
            assert!(!SCRIPT.contains(markup), "{markup}");
        }
        for text in [HEAD, BODY, SCRIPT, STYLE] {
            assert!(!text.contains("http:") && !text.contains("https:") && !text.contains("url("));
        }
        assert!(!BODY.contains(" style=") && !HEAD.contains(" style="), "the policy forbids them");
    }

    #[test]
    fn hashes_match_the_content_that_browsers_see() {
        let once = "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
        assert_eq!(hash("abc"), once);
        assert_eq!(normalize_line_endings("a\r\nb\n"), "a\nb\n");
    }

    #[test]
    fn small_parts_are_visible_and_the_bar_is_full() {
        let state = |count| State { count, name: "sent", sign: "", meaning: "", is_problem: false };
        let parts = bar(&[state(1), state(999_999)]);
        let number = |part: &Value, name| part.get_attr(name).map(|part| part.to_string().parse::<f64>());
        let number = |part: &Value, name| number(part, name).expect("a part").expect("a number");
        assert!(number(&parts[0], "width") > 0.7);
        assert!((number(&parts[1], "at") + number(&parts[1], "width") - 100.0).abs() < 0.01);
        assert!(bar(&[]).is_empty());
    }
}
