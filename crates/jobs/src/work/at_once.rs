//! How many parts a worker sends at the same time, if nobody says so. Pure but for the number of cores.

use std::thread;

/// Parts per core: most of the time, a part waits for the service and the ledger.
const PER_CORE: usize = 2;
/// Connections of the database for each part. A part uses four, so this leaves room for seven more such workers.
const CONNECTIONS: usize = 32;
/// More parts than this send no faster, because they share a rate.
const MOST: usize = 8;

/// Returns the number of parts. `connections`: how many the database allows, `None` for a ledger file, whose runs are not divided.
pub(super) fn chosen(connections: Option<usize>) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    connections.map_or(1, |connections| by(cores, connections))
}

fn by(cores: usize, connections: usize) -> usize {
    (cores * PER_CORE).min(connections / CONNECTIONS).clamp(1, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_cores_or_connections_limit_the_parts() {
        for (cores, connections, expected) in
            [(1, 100, 2), (2, 100, 3), (8, 100, 3), (8, 20, 1), (2, 1_000, 4), (32, 1_000, 8)]
        {
            assert_eq!(by(cores, connections), expected, "{cores} cores, {connections} connections");
        }
        assert_eq!(chosen(None), 1);
    }
}
