//! Cycles among source files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// Returns the groups of nodes that reach each other (strongly connected components of more than one node), each
/// sorted.
pub fn cycles<N: Clone + Ord + Debug>(edges: &BTreeMap<N, BTreeSet<N>>) -> Vec<Vec<N>> {
    let mut groups = Vec::new();
    let mut seen = BTreeSet::new();
    for node in edges.keys() {
        if seen.contains(node) {
            continue;
        }
        let reached = reachable(edges, node);
        let mutual: Vec<N> = reached.iter().filter(|other| reachable(edges, other).contains(node)).cloned().collect();
        if mutual.len() > 1 {
            seen.extend(mutual.iter().cloned());
            groups.push(mutual);
        }
    }
    groups
}

/// All nodes that a path of at least one edge leads to from `start`.
fn reachable<N: Clone + Ord>(edges: &BTreeMap<N, BTreeSet<N>>, start: &N) -> BTreeSet<N> {
    let mut found = BTreeSet::new();
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        for next in edges.get(node).into_iter().flatten() {
            if found.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}
