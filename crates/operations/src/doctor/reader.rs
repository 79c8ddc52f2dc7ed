//! Checks the sandbox of the process that reads workbooks.

use sheetport_sheet::{Protections, try_protections};

use super::finding::Finding;

const NAME: &str = "reader";

/// Tries the sandbox in a child process like the ones for reading workbooks.
pub(super) fn protections() -> Finding {
    match try_protections() {
        Ok(protections) => judged(&protections),
        Err(error) => Finding::problem(
            NAME,
            format!("workbooks can't be read: the process for it can't be tried: {error}"),
            "check the limits on processes and memory, and that the program may start itself",
        ),
    }
}

fn judged(protections: &Protections) -> Finding {
    let gaps: Vec<&str> = protections.gaps().map(|gap| gap.what.as_str()).collect();
    let refused = protections.attempts.len() - gaps.len();
    let landlock = protections.landlock.map(|version| format!("Landlock {version}"));
    // What other systems lack is said by `system`.
    if cfg!(not(target_os = "linux")) {
        return Finding::ok(NAME, "workbooks are read in a process of their own");
    }
    match (landlock, protections.seccomp && protections.no_new_privileges) {
        (_, true) if !gaps.is_empty() => Finding::problem(
            NAME,
            format!("the process that reads workbooks could {}", gaps.join(", ")),
            "report this, with the version of the kernel",
        ),
        (Some(landlock), true) => {
            let text = format!("{landlock}, seccomp, no new privileges; {refused} attempts refused");
            Finding::ok(NAME, text)
        }
        (None, true) => Finding::warning(
            NAME,
            format!(
                "the kernel has no Landlock; seccomp and no new privileges are in force, {refused} attempts refused"
            ),
            "use Linux 5.13 or later, with Landlock among its security modules",
        ),
        (landlock, false) => {
            let others = landlock.map_or(String::new(), |landlock| format!("; {landlock} is in force"));
            Finding::warning(
                NAME,
                format!("the kernel has no seccomp filters for the process that reads workbooks{others}"),
                "allow seccomp in the container, or use a kernel with CONFIG_SECCOMP_FILTER",
            )
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use sheetport_sheet::Attempt;

    use super::*;
    use crate::doctor::Health;

    #[test]
    fn a_missing_protection_is_a_warning_and_a_gap_a_problem() {
        let attempt = |is_refused| Attempt { what: "delete a file".to_owned(), by: "seccomp".to_owned(), is_refused };
        let of = |landlock, seccomp, is_refused| {
            let attempts = vec![attempt(true), attempt(is_refused)];
            let no_new_privileges = seccomp;
            judged(&Protections { landlock, seccomp, no_new_privileges, further_files: 11, attempts })
        };
        let all = of(Some(7), true, true);
        assert_eq!(
            (all.health, all.text.as_str()),
            (Health::Ok, "Landlock 7, seccomp, no new privileges; 2 attempts refused")
        );
        for (finding, health, words) in [
            (of(None, true, true), Health::Warning, "no Landlock; seccomp and no new privileges are in force"),
            (
                of(Some(3), false, false),
                Health::Warning,
                "no seccomp filters for the process that reads workbooks; Landlock 3",
            ),
            (of(Some(3), true, false), Health::Problem, "could delete a file"),
        ] {
            assert_eq!(finding.health, health, "{finding:?}");
            assert!(finding.text.contains(words) && finding.remedy.is_some(), "{finding:?}");
        }
    }
}
