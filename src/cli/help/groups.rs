//! The groups of the flags of commands that have many, and the flags that only `--help` shows.

use clap::Command;

/// Commands whose flags stand in groups.
const COMMANDS: [&str; 4] = ["upload", "plan", "retry", "resume"];

/// Headings with the names of their flags. Other flags of these commands are the everyday ones, and come first.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Reading the file",
        &[
            "sheet",
            "set",
            "locale",
            "time_zone",
            "currency",
            "allow_lookup",
            "reviewed",
            "delimiter",
            "encoding",
            "quote",
            "escape",
            "password_file",
        ],
    ),
    (
        "What is sent",
        &[
            "rows",
            "only",
            "changed_only",
            "fill_blank",
            "allow_repeat",
            "restore_texts",
            "keep_lines",
            "create_missing_items",
            "trigger_workflows",
            "overwrite_newer",
            "missing",
            "at_most",
        ],
    ),
    ("Safety", &["accept", "strict", "all_or_nothing", "max_errors", "max_unknown", "undoable"]),
    ("Pace", &["rate", "concurrency", "queue", "priority"]),
    ("Report", &["report", "language", "for_supplier"]),
];

/// Flags that few people need, so that `-h` fits on two screens.
const RARE: [&str; 17] = [
    "allow_lookup",
    "reviewed",
    "quote",
    "escape",
    "from",
    "restore_texts",
    "create_missing_items",
    "trigger_workflows",
    "missing",
    "at_most",
    "max_unknown",
    "concurrency",
    "queue",
    "priority",
    "language",
    "for_supplier",
    "set",
];

/// Puts the flags of a command in groups, if it has many.
pub(super) fn grouped(command: Command) -> Command {
    if !COMMANDS.contains(&command.get_name()) {
        return command;
    }
    command.mut_args(|argument| {
        let name = argument.get_id().to_string();
        let group = GROUPS.iter().find(|(_, names)| names.contains(&name.as_str()));
        let place = GROUPS.iter().flat_map(|(_, names)| *names).position(|known| *known == name);
        let argument = match (group, place) {
            (Some((heading, _)), Some(place)) => argument.help_heading(*heading).display_order(place),
            _ => argument,
        };
        let is_rare = RARE.contains(&name.as_str());
        if is_rare { argument.hide_short_help(true) } else { argument }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command_in_english;

    #[test]
    fn every_flag_of_the_groups_exists() {
        let root = command_in_english();
        let commands = || root.get_subcommands().filter(|command| COMMANDS.contains(&command.get_name()));
        let exists = |name: &str| commands().any(|command| command.get_arguments().any(|it| it.get_id() == name));
        let names = GROUPS.iter().flat_map(|(_, names)| *names).chain(&RARE);
        let missing: Vec<_> = names.filter(|name| !exists(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!(commands().count(), COMMANDS.len());
    }
}
