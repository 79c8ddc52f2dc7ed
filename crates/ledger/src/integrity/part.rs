//! The parts of a run that can be damaged.

/// The tables with rows of runs, except claims: claims outlive their runs.
pub(super) const TABLES_OF_RUNS: [&str; 7] =
    ["source_block", "record_block", "outcome", "resolution", "in_flight", "intent", "total"];

/// A part of the stored data of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DamagedPart {
    /// The row of the run: address, workspace, settings.
    Run,
    Records,
    Rows,
    Totals,
    Outcomes,
    InFlight,
    Decisions,
    Claims,
    Intents,
    /// Found by an earlier repair, and not rebuilt.
    Known,
}

impl DamagedPart {
    /// Returns what `runs repair` does with the damage.
    pub fn remedy(self) -> &'static str {
        match self {
            DamagedPart::Run | DamagedPart::Records | DamagedPart::Rows => {
                "it can't be rebuilt: repair marks the run as damaged, and it is not sent any more; upload its file again"
            }
            DamagedPart::Known => "it can't be rebuilt, and the run is not sent any more; upload its file again",
            DamagedPart::Totals | DamagedPart::Claims | DamagedPart::Intents => "repair rebuilds it",
            DamagedPart::Outcomes | DamagedPart::InFlight => {
                "repair makes a record unknown if it may have been sent and must not be sent twice"
            }
            DamagedPart::Decisions => "repair removes the decision; `sheetport resolve` asks for it again",
        }
    }
}
