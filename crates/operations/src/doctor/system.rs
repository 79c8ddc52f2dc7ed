//! What each operating system keeps of the guarantees in SECURITY.md, whose table is written from here.

use super::finding::Finding;

const NAME: &str = "system";

/// A guarantee that depends on the operating system. Linux keeps all of them.
struct Guarantee {
    #[cfg_attr(not(test), expect(dead_code, reason = "only the table in SECURITY.md says what is guaranteed"))]
    what: &'static str,
    on_macos: Kept,
    on_windows: Kept,
}

/// Whether a system keeps a guarantee.
enum Kept {
    Yes,
    /// Not, or not entirely: what may happen, and what a person can do about it.
    Not(&'static str, &'static str),
}

const OTHER_SYSTEM: &str = "read workbooks of strangers on Linux, or save them as CSV first";

static GUARANTEES: [Guarantee; 5] = [
    Guarantee {
        what: "credentials, the ledger, temporary files and reports have no readers that they should not have",
        on_macos: Kept::Yes,
        on_windows: Kept::Not(
            "files have the permissions of their folder, and nobody checks who else can read them",
            "keep SHEETPORT_HOME and reports in folders of your own, and tokens in the keyring: `sheetport login --keyring`",
        ),
    },
    Guarantee {
        what: "no link of another user is followed",
        on_macos: Kept::Not(
            "a link or a file in an inbox that another user exchanges right after its check is read",
            "let only yourself create files in an inbox, or run its job on Linux",
        ),
        on_windows: Kept::Not(
            "exports and reports follow links of other users, and second names of a file are not recognized",
            "write to folders in which only you can create files",
        ),
    },
    Guarantee {
        what: "a workbook takes at most 400 MiB of memory",
        on_macos: Kept::Not("the memory of the process that reads a workbook may not be limited", OTHER_SYSTEM),
        on_windows: Kept::Not("the memory of the process that reads a workbook is not limited", OTHER_SYSTEM),
    },
    Guarantee {
        what: "a workbook that keeps the processor busy for 5 seconds without a row is refused",
        on_macos: Kept::Yes,
        on_windows: Kept::Not(
            "5 seconds without a row are counted by the clock, so a busy machine may refuse a large workbook",
            "read large workbooks while little else is running",
        ),
    },
    Guarantee {
        what: "the process that reads a workbook can open no other file, no connection and no program",
        on_macos: Kept::Not(
            "nothing but its program keeps the process that reads a workbook from other files",
            OTHER_SYSTEM,
        ),
        on_windows: Kept::Not(
            "nothing but its program keeps the process that reads a workbook from other files",
            OTHER_SYSTEM,
        ),
    },
];

/// Returns what this system does not keep.
pub(super) fn guarantees() -> Vec<Finding> {
    kept_on(std::env::consts::OS)
}

fn kept_on(system: &str) -> Vec<Finding> {
    let of: fn(&Guarantee) -> &Kept = match system {
        "linux" => return vec![Finding::ok(NAME, "Linux, which can keep all guarantees of SECURITY.md")],
        "macos" => |guarantee| &guarantee.on_macos,
        "windows" => |guarantee| &guarantee.on_windows,
        _ => {
            let text = "SECURITY.md guarantees nothing on this system, on which Sheetport has never been tried";
            return vec![Finding::warning(NAME, text, "use Linux, macOS or Windows")];
        }
    };
    let gaps = GUARANTEES.iter().map(of).filter_map(|kept| match kept {
        Kept::Yes => None,
        Kept::Not(gap, remedy) => Some(Finding::warning(NAME, *gap, *remedy)),
    });
    gaps.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "<!-- Generated from crates/operations/src/doctor/system.rs: SHEETPORT_UPDATE_DOCS=1 cargo test -p sheetport-operations system -->\n";

    fn markdown() -> String {
        let cell = |kept: &Kept| match kept {
            Kept::Yes => "kept",
            Kept::Not(gap, _) => gap,
        };
        let row = |guarantee: &Guarantee| {
            let Guarantee { what, on_macos, on_windows } = guarantee;
            format!("| {what} | kept | {} | {} |\n", cell(on_macos), cell(on_windows))
        };
        let rows: String = GUARANTEES.iter().map(row).collect();
        format!("| guarantee | Linux | macOS | Windows |\n|---|---|---|---|\n{rows}")
    }

    #[test]
    fn the_table_in_security_md_is_this_one() {
        sheetport_testing::generated::assert_tables("SECURITY.md", BEGIN, &[markdown()]);
    }

    #[test]
    fn each_gap_of_a_system_is_a_warning_with_a_remedy() {
        let count = |system: &str| {
            let found = kept_on(system);
            assert!(found.iter().all(|finding| finding.name == NAME));
            found.iter().filter(|finding| finding.remedy.is_some()).count()
        };
        assert_eq!([count("linux"), count("macos"), count("windows"), count("freebsd")], [0, 3, 5, 1]);
    }
}
