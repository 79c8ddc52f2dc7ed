//! Proposes a template on the terminal for a file that no template fits, and asks what is open.

use sheetport_files::visible::one_line;
use sheetport_infer::Proposal;
use sheetport_language::{say, word};
use sheetport_operations::review::{Draft, FieldChoice, OpenField};
use sheetport_operations::{self as operations, CommandLine, InferRequest, InputFile};
use sheetport_records::RecordKind;
use sheetport_sheet::write::{Existing, WholeFile};

use crate::cli::Input;
use crate::commands::console::Console;
use crate::error::{ErrorCode, Failure};
use crate::settings::Settings;
use crate::ui;

/// Returns the path of the template that a person has made of a proposal: it was written beside the file.
///
/// # Errors
/// If the person gives up, or the template can't be written.
pub(super) async fn propose(file: &InputFile, input: &Input, settings: &Settings) -> Result<String, Failure> {
    let path = operations::unused(&file.name.with_extension("toml"));
    let mut proposal = infer(file, input, None, settings).await?;
    if proposal.fields.is_empty() {
        return Err(given_up(file, settings));
    }
    ui::remark(say!("no template fits {}, so one is proposed:", one_line(&file.name.display().to_string())));
    ui::inference::print(&proposal);
    if proposal.is_kind_guess {
        let kind = ask_kind(proposal.kind).ok_or_else(|| given_up(file, settings))?;
        let is_other = kind != proposal.kind;
        // What a person has chosen is no guess.
        proposal = infer(file, input, Some(kind), settings).await?;
        if is_other {
            ui::inference::print(&proposal);
        }
    }
    let open = OpenField::of(&proposal);
    let mut draft = Draft::proposed(&settings.context, proposal, &path);
    for field in &open {
        let choice = ask_column(field).ok_or_else(|| given_up(file, settings))?;
        draft.decide(field, choice)?;
    }
    let written = WholeFile::create(&path, Existing::Keep)?.finish_with(draft.toml.as_bytes())?;
    let shown = written.display().to_string();
    ui::remark(say!("wrote the template {}; the next file like this one needs no questions", one_line(&shown)));
    Ok(shown)
}

async fn infer(
    file: &InputFile,
    input: &Input,
    record: Option<RecordKind>,
    settings: &Settings,
) -> Result<Proposal, Failure> {
    let request = InferRequest {
        file,
        record,
        sheet: input.sheet.as_deref(),
        text: input.reading.options(),
        header_row: None,
        reading: input.reading.in_use(),
    };
    let console = Console::new(settings.output);
    Ok(operations::infer(&settings.context, &request, &|event| console.show(event)).await?)
}

/// Asks what the rows are. `None` if the person gives up.
fn ask_kind(proposed: RecordKind) -> Option<RecordKind> {
    let all: Vec<&str> = RecordKind::ALL.iter().map(|kind| word(kind.input().plural)).collect();
    let question = say!("Are the rows {}? [Y, or what they are]", word(proposed.input().plural));
    loop {
        let answer = ui::ask(&question)?;
        if matches!(answer.as_str(), "" | "y" | "yes") {
            return Some(proposed);
        }
        let is_it = |kind: &&RecordKind| word(kind.input().plural).to_lowercase() == answer;
        let kind = RecordKind::ALL.iter().find(is_it).copied().or_else(|| RecordKind::from_words(&answer));
        match kind {
            Some(kind) => return Some(kind),
            None if matches!(answer.as_str(), "q" | "quit") => return None,
            None => ui::remark(say!("type y, q to stop, or one of: {}", all.join(", "))),
        }
    }
}

/// Asks where the values of a field are: `Some(None)` leaves it out. `None` if the person gives up.
fn ask_column(field: &OpenField) -> Option<Option<&FieldChoice>> {
    ui::inference::print_choices(field);
    let question = match (field.choices.is_empty(), field.is_required) {
        (true, _) => say!("[the name of a column, or q to stop]"),
        (false, true) => say!("[1, another number, or the name of a column]"),
        (false, false) => say!("[1, another number, the name of a column, or - for none]"),
    };
    loop {
        let answer = ui::ask(&question)?;
        match (answer.as_str(), field.choice(&answer)) {
            ("-", _) if !field.is_required => return Some(None),
            (_, Some(choice)) => return Some(Some(choice)),
            ("q" | "quit", None) => return None,
            _ => ui::remark(say!("there is no such column")),
        }
    }
}

fn given_up(file: &InputFile, settings: &Settings) -> Failure {
    let infer = infer_command(file, settings);
    Failure::new(ErrorCode::Usage, "nothing was sent", format!("to write a template with an editor: {infer}"))
}

/// Returns the command that writes a proposal to a file. It has no --record: a kind that a program names would count as chosen by a person.
pub(super) fn infer_command(file: &InputFile, settings: &Settings) -> CommandLine {
    let infer = CommandLine::new(&settings.context, "template infer").file(&file.name);
    infer.short('o', "output", "template.toml")
}
