//! The pages of a list: several asked for at once, ahead of whoever takes them in their order.
//!
//! Workers ask for the next page, look at it, put it down and go on. There are some more of them than requests may be under
//! way, so that the service need not wait while pages are looked at. They are shared out among a few threads, and whoever
//! takes pages is woken for some of them together, because to wake another thread costs as much as a page.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio::task::JoinSet;

use super::Error;
use super::gather::{Asking, page};
use super::look::{Look, Looked};
use crate::client::pages::{Identity, Page, Walk};
use crate::records::List;

/// More threads than keep up with any service are of no use.
const MOST_LANES: usize = 4;
/// Workers of a lane that look at pages, beyond those that wait for the service.
const LOOKING: usize = 1;
/// Pages that are fetched and looked at before they are taken, beyond those under way.
const AHEAD: u64 = 32;
/// As long as pages of so many bytes wait, no more are asked for than may be under way together.
const MOST_WAITING: usize = 8 << 20;
/// So many pages wait before whoever takes them is woken.
const TOGETHER: usize = 16;
/// Fewer are taken after so long.
const PATIENCE: Duration = Duration::from_millis(50);
/// Memory is kept of so many pages, as long as none is longer than this.
const MOST_SPARE: usize = 48;
const LARGEST_SPARE: usize = 64 * 1024;

/// The pages of a list, in their order.
pub struct ListPages {
    shared: Arc<Shared>,
    lanes: Vec<Lane>,
    /// They end with the value.
    workers: JoinSet<()>,
}

/// A thread for workers, on which each reads from connections of its own: on one thread nobody is woken from another.
struct Lane {
    runtime: Handle,
    /// Its share of the requests that may be under way together.
    permits: Arc<Semaphore>,
    /// The thread ends with this.
    _until: Option<oneshot::Sender<Infallible>>,
}

struct Shared {
    asking: Asking,
    list: &'static List,
    look: Look,
    state: Mutex<State>,
    come: Notify,
}

struct State {
    /// The first page that nobody asked for.
    next: u64,
    /// The last that may be asked for.
    last: u64,
    /// The first that was not taken.
    first: u64,
    /// From `first` on, as far as they have come.
    pages: VecDeque<Option<Result<Looked, Error>>>,
    waiting: usize,
    waiting_bytes: usize,
    /// A page that came without entries: the list may end there, and what is asked for beyond it may be in vain.
    barren: Option<u64>,
    /// How many there are in each lane.
    workers: Vec<usize>,
    /// Memory that is used again: what one thread sets aside and another frees costs both.
    spare: Vec<(Page, Vec<Identity>)>,
}

/// What a worker has to put down a page for.
struct Turn<'a> {
    shared: &'a Shared,
    number: u64,
    spare: (Page, Vec<Identity>),
    looked: Option<Result<Looked, Error>>,
}

impl ListPages {
    /// Begins at the page `first`, from 1.
    pub fn new(asking: Asking, list: &'static List, first: u64, look: Look) -> ListPages {
        let most = asking.concurrency;
        let lanes = available_parallelism().map_or(1, usize::from).min(MOST_LANES).min(most).max(1);
        let state = Mutex::new(State::new(first, lanes));
        let lanes = shares(most, lanes).map(Lane::new).collect();
        let shared = Shared { asking, list, look, state, come: Notify::new() };
        ListPages { shared: Arc::new(shared), lanes, workers: JoinSet::new() }
    }

    /// The next page, if it is there. Further ones are asked for as far as the walk thinks that they are there.
    pub fn take(&mut self, walk: &Walk) -> Option<Result<Looked, Error>> {
        let most = self.shared.asking.concurrency;
        let mut state = self.shared.state();
        let taken = state.take();
        // Whoever takes pages until the walk is over wants the one that is not there.
        state.last = walk.horizon().max(if taken.is_none() { state.first } else { 0 });
        let mut new = Vec::new();
        while state.may_ask(new.len() as u64, most)
            && let Some(lane) = state.idle_lane(most)
        {
            state.workers[lane] += 1;
            new.push(lane);
        }
        drop(state);
        for lane in new {
            while self.workers.try_join_next().is_some() {}
            let Lane { runtime, permits, .. } = &self.lanes[lane];
            self.workers.spawn_on(work(Arc::clone(&self.shared), lane, Arc::clone(permits)), runtime);
        }
        taken
    }

    /// Takes back what is not needed any more of a page.
    pub fn take_back(&self, page: Page, ids: Vec<Identity>) {
        let mut state = self.shared.state();
        if state.spare.len() < MOST_SPARE && page.text().len() <= LARGEST_SPARE {
            state.spare.push((page, ids));
        }
    }

    /// Waits until it is worth while to take pages.
    pub async fn wait(&self) {
        // What has come meanwhile is looked for again anyway.
        let _ = tokio::time::timeout(PATIENCE, self.shared.come.notified()).await;
    }
}

/// How many of the requests under way are each lane's.
fn shares(most: usize, lanes: usize) -> impl Iterator<Item = usize> {
    (0..lanes).map(move |nth| (most + nth) / lanes)
}

impl Lane {
    fn new(permits: usize) -> Lane {
        let permits = Arc::new(Semaphore::new(permits));
        match Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => {
                let (until, ended) = oneshot::channel();
                let lane = Lane { runtime: runtime.handle().clone(), permits, _until: Some(until) };
                tokio::task::spawn_blocking(move || {
                    // Nothing is ever sent.
                    let _ = runtime.block_on(ended);
                    // The look-up of a name that hangs would keep it.
                    runtime.shutdown_background();
                });
                lane
            }
            Err(error) => {
                tracing::warn!(%error, "pages are fetched on the threads of all others");
                Lane { runtime: Handle::current(), permits, _until: None }
            }
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next page to ask for; nothing where no more are to be asked for now, and the worker ends.
    fn turn(&self, lane: usize) -> Option<Turn<'_>> {
        let mut state = self.state();
        if !state.may_ask(0, self.asking.concurrency) {
            state.workers[lane] -= 1;
            // Only when pages are taken there is more to do.
            self.come.notify_one();
            return None;
        }
        let number = state.next;
        state.next += 1;
        let spare = state.spare.pop().unwrap_or_default();
        Some(Turn { shared: self, number, spare, looked: None })
    }
}

impl State {
    fn new(first: u64, lanes: usize) -> State {
        State {
            next: first,
            last: first,
            first,
            pages: VecDeque::new(),
            waiting: 0,
            waiting_bytes: 0,
            barren: None,
            workers: vec![0; lanes],
            spare: Vec::new(),
        }
    }

    /// Whether one page may be asked for when `more` others were.
    fn may_ask(&self, more: u64, concurrency: usize) -> bool {
        let next = self.next + more;
        let is_careful = self.waiting_bytes > MOST_WAITING || self.barren.is_some();
        let ahead = concurrency as u64 + if is_careful { 0 } else { AHEAD };
        next <= self.last && next - self.first < ahead
    }

    /// The lane with the fewest workers, if there may be one more.
    fn idle_lane(&self, concurrency: usize) -> Option<usize> {
        let most = concurrency + LOOKING * self.workers.len();
        let is_idle = self.workers.iter().sum::<usize>() < most;
        (0..self.workers.len()).min_by_key(|lane| self.workers[*lane]).filter(|_| is_idle)
    }

    fn put(&mut self, number: u64, looked: Result<Looked, Error>) {
        let Ok(place) = usize::try_from(number - self.first) else { return };
        if self.pages.len() <= place {
            self.pages.resize_with(place + 1, || None);
        }
        self.waiting += 1;
        self.waiting_bytes += looked.as_ref().map_or(0, Looked::size);
        if looked.as_ref().map_or(true, Looked::is_barren) {
            self.barren = self.barren.max(Some(number));
        }
        self.pages[place] = Some(looked);
    }

    fn take(&mut self) -> Option<Result<Looked, Error>> {
        let looked = self.pages.front_mut()?.take()?;
        self.pages.pop_front();
        self.waiting -= 1;
        self.waiting_bytes -= looked.as_ref().map_or(0, Looked::size);
        self.barren = self.barren.filter(|barren| *barren > self.first);
        self.first += 1;
        Some(looked)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let looked = self.looked.take().unwrap_or(Err(Error::Stuck));
        let mut state = self.shared.state();
        state.put(self.number, looked);
        if state.waiting >= TOGETHER && state.pages.front().is_some_and(Option::is_some) {
            self.shared.come.notify_one();
        }
    }
}

async fn work(shared: Arc<Shared>, lane: usize, permits: Arc<Semaphore>) {
    while let Some(mut turn) = shared.turn(lane) {
        let (spare, ids) = std::mem::take(&mut turn.spare);
        // It is never closed.
        let permit = permits.acquire().await.ok();
        let fetched = page(&shared.asking, shared.list, turn.number, spare).await;
        drop(permit);
        // Whoever waited for the permit asks first.
        tokio::task::yield_now().await;
        turn.looked = Some(fetched.map(|fetched| shared.look.at_with(fetched, ids)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::gather::Fetched;
    use super::*;
    use crate::client::pages::{Identifier, read};

    fn looked(body: &str) -> Looked {
        let page = read(body.as_bytes().to_vec()).expect("a page");
        Look { identifier: Identifier::default(), in_force: None }.at(Fetched::Page(page))
    }

    /// Asks for all pages that may be asked for, and tells how many there are.
    fn ask(state: &mut State, concurrency: usize) -> u64 {
        let before = state.next;
        while state.may_ask(0, concurrency) {
            state.next += 1;
        }
        state.next - before
    }

    #[test]
    fn pages_are_given_in_their_order_and_asked_for_some_ahead() {
        let mut state = State::new(1, 1);
        assert_eq!(ask(&mut state, 4), 1, "nothing is known of the list");
        state.last = 1_000;
        assert_eq!(ask(&mut state, 4), 3 + AHEAD);
        for number in [3, 1, 2] {
            state.put(number, Ok(looked(&format!(r#"[{{"id": {number}}}]"#))));
        }
        let taken: Vec<String> = std::iter::from_fn(|| state.take())
            .map(|taken| taken.expect("a page").fetched.into_page().text().to_owned())
            .collect();
        assert_eq!(taken, [r#"[{"id": 1}]"#, r#"[{"id": 2}]"#, r#"[{"id": 3}]"#]);
        assert_eq!((state.waiting, state.waiting_bytes), (0, 0));
        assert_eq!(ask(&mut state, 4), 3);
        state.last = 10;
        assert_eq!(ask(&mut state, 4), 0, "the list became shorter");
    }

    #[test]
    fn beyond_a_page_without_records_hardly_any_are_asked_for() {
        let mut state = State::new(1, 1);
        state.last = 1_000;
        state.next = 3;
        state.put(2, Ok(looked("[]")));
        assert_eq!(ask(&mut state, 4), 2);
        state.put(1, Ok(looked(r#"[{"id": 1}]"#)));
        assert!(state.take().is_some() && state.barren.is_some());
        assert_eq!(ask(&mut state, 4), 1);
        assert!(state.take().is_some() && state.barren.is_none());
        assert_eq!(ask(&mut state, 4), 1 + AHEAD, "it was a hole");
    }

    #[test]
    fn workers_and_requests_are_shared_out_among_the_lanes() {
        let mut state = State::new(1, 3);
        while let Some(lane) = state.idle_lane(8) {
            state.workers[lane] += 1;
        }
        assert_eq!(state.workers, [4, 4, 3]);
        assert_eq!([1, 2, 3, 8].map(|most| shares(most, 2).sum::<usize>()), [1, 2, 3, 8]);
        assert!(shares(4, 4).chain(shares(8, 3)).all(|share| share > 0), "a lane without requests would stand still");
    }
}
