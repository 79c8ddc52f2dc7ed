//! A file in the place of a command: `sheetport prices.xlsx` opens its page.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Returns the arguments with the command that opens the page of a file, if `error` is about a file in the place of a command.
///
/// # Errors
/// The name of the file, if there is no display on which the page could be seen.
pub(super) fn with_command(
    error: &clap::Error,
    mut args: Vec<OsString>,
    has_display: bool,
) -> Result<Option<Vec<OsString>>, String> {
    let Some(name) = unknown_command(error).filter(|name| Path::new(name).is_file()) else { return Ok(None) };
    let Some(place) = args.iter().position(|arg| arg == name) else { return Ok(None) };
    if !has_display {
        return Err(name.to_owned());
    }
    args.insert(place, "review".into());
    Ok(Some(args))
}

fn unknown_command(error: &clap::Error) -> Option<&str> {
    match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(name))) => Some(name),
        _ => None,
    }
}

/// Whether a browser can be seen, as far as the environment tells: Windows and macOS have a display, other systems name it.
pub(super) fn has_display() -> bool {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].into_iter().any(is_set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_that_exists_takes_the_place_of_a_command() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("prices.csv");
        std::fs::write(&path, "SKU\n1\n").expect("a file");
        let path = path.to_str().expect("a name");
        let given = |words: &[&str], has_display| {
            let args: Vec<OsString> = words.iter().map(OsString::from).collect();
            let error = super::super::command().try_get_matches_from(&args).expect_err("it is no command");
            let with = with_command(&error, args, has_display)?;
            Ok(with.map(|args| args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")))
        };
        assert_eq!(given(&["sheetport", path], true), Ok(Some(format!("sheetport review {path}"))));
        assert_eq!(
            given(&["sheetport", "--profile", "a", path], true),
            Ok(Some(format!("sheetport --profile a review {path}")))
        );
        assert_eq!(given(&["sheetport", path], false), Err(path.to_owned()));
        assert_eq!(given(&["sheetport", "no-such-file.csv"], true), Ok(None));
        assert_eq!(given(&["sheetport", "uplaod", path], true), Ok(None));
        assert_eq!(given(&["sheetport", "upload"], true), Ok(None));
    }
}
