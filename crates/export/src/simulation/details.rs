//! Single records of the simulated service, for exports with the details of each record.

use sheetport_client::TransportOutcome;
use sheetport_records::Single;

use super::Simulation;
use super::world::{World, response};

/// The paths of single records.
pub(super) static DETAILS: Single = Single {
    name: "items",
    path: sheetport_records::item::LIST.path,
    has_external_id: false,
    id_fields: &["id"],
    fields: &[],
};

impl Simulation {
    /// Whether the changes are exported with the details of each record.
    pub(super) fn has_details(&self) -> bool {
        self.seed % 8 < 4
    }
}

impl World {
    /// Answers a request of a single record.
    pub(super) fn detail(&mut self, path: &str) -> TransportOutcome {
        let id: u64 = path.rsplit_once('/').and_then(|(_, id)| id.parse().ok()).expect("an ID");
        let current = self.current.iter().map(|version| &self.versions[*version]).find(|version| version.id == id);
        // Other bytes than in the list, so that their hashes differ.
        let detail = current.map(|version| version.json.replacen('{', "{ ", 1));
        if self.is_busy && self.rng.u8(..40) == 0 {
            self.change();
        }
        detail.map_or_else(|| response(404, String::new()), |detail| response(200, detail))
    }
}
