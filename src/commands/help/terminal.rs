//! `completions`, `man` and `schema`: descriptions of the commands for shells, for `man` and for programs. `licenses`: what the executable contains.

use std::io::Write;
use std::path::Path;

use clap::Command;
use sheetport_operations as operations;
use sheetport_sheet::write::{Existing, WholeFile};

use crate::cli::{self, Completions, Man, Schema};
use crate::error::{ErrorCode, Exit, Failure};
use crate::ui;

const NAME: &str = "sheetport";
/// The licence of Sheetport that is shorter. The notices below contain the other.
const LICENCE: &str = include_str!("../../../LICENSE-MIT");
/// Written by packaging/notices.
const THIRD_PARTY: &str = include_str!("../../../packaging/third-party.txt");

/// Prints the completions of a shell.
pub(in crate::commands) fn completions(args: &Completions) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::command(), NAME, &mut script);
    ui::text(&String::from_utf8_lossy(&script));
    Exit::Done
}

/// Prints a JSON Schema.
pub(in crate::commands) fn schema(args: &Schema) -> Exit {
    let schema = operations::schema(args.name).expect("each name of the flag has a schema");
    ui::text(&format!("{schema:#}"));
    Exit::Done
}

/// Prints the licences and notices, without which nobody may pass the executable on.
pub(in crate::commands) fn licenses() -> Exit {
    ui::text(&[LICENCE, "\n", THIRD_PARTY].concat());
    Exit::Done
}

/// Writes a page for each command.
pub(in crate::commands) fn man(args: &Man) -> Result<Exit, Failure> {
    let unwritable = |error: &dyn std::fmt::Display| {
        let message = format!("the pages can't be written to {}: {error}", args.folder.display());
        Failure::new(ErrorCode::Local, message, "check the permissions of the folder")
    };
    std::fs::create_dir_all(&args.folder).map_err(|error| unwritable(&error))?;
    let mut command = cli::command();
    command.build();
    let mut pages = Vec::new();
    collect(command, NAME, &mut pages);
    for (name, page) in pages {
        write(&args.folder.join(format!("{name}.1")), &page).map_err(|error| unwritable(&error))?;
    }
    Ok(Exit::Done)
}

/// Renders the pages of a command and of its visible subcommands.
fn collect(command: Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        collect(inner.clone(), &format!("{name}-{}", inner.get_name()), pages);
    }
    let mut page = Vec::new();
    // The title for `man sheetport-upload`. The usage keeps the words to type.
    let title = name.to_owned();
    let man = clap_mangen::Man::new(command).title(title);
    // Writing to memory does not fail.
    let _ = man.render(&mut page);
    pages.push((name.to_owned(), page));
}

fn write(path: &Path, page: &[u8]) -> Result<(), sheetport_sheet::Error> {
    let mut file = WholeFile::create(path, Existing::Replace)?;
    file.write_all(page).map_err(|source| sheetport_sheet::Error::Write { path: path.to_owned(), source })?;
    file.finish().map(drop)
}
