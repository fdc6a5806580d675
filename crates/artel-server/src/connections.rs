//! Who is connected from where: how many connections one address may have, and which one ends when there is no room for
//! another. Knows nothing of what is said on a connection.
//!
//! One address cannot keep the others out: when all places are taken, a new connection takes the place of one that belongs
//! to an address with clearly more. Connections on which no request is under way go first, the oldest before the others.
//! When no address has clearly more, the new connection waits; the next free place goes to the address with the fewest.

use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use artel_model::limit::CONNECTIONS_WAITING_MAX;
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;

use crate::auth::ClientAddress;

/// How many connections there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionCaps {
    /// Altogether.
    pub(crate) all: usize,
    /// From one address.
    pub(crate) of_one_address: usize,
}

/// All connections. Clones are the same.
#[derive(Clone)]
pub(crate) struct Connections {
    shared: Arc<Shared>,
}

/// Says whether an address is that of a trusted proxy, at this moment: an operator may change which ones are.
type IsExempt = Box<dyn Fn(IpAddr) -> bool + Send + Sync>;

struct Shared {
    caps: ConnectionCaps,
    /// Proxies speak for many, so they are neither counted by address nor sent away.
    is_exempt: IsExempt,
    held: Mutex<Held>,
    /// Told when there is a free place.
    freed: Notify,
}

#[derive(Default)]
struct Held {
    by_address: HashMap<IpAddr, Vec<Arc<Place>>>,
    /// How many connections of each address wait for a place.
    waiting: HashMap<IpAddr, usize>,
    all: usize,
    last: u64,
}

/// What becomes of a new connection.
pub(crate) enum Admission {
    /// It has a place.
    Admitted(Connected),
    /// It waits for one.
    Waits(Waiting),
    /// There is none for it.
    Refused,
}

/// A connection that waits for a place; it is forgotten when this is dropped.
pub(crate) struct Waiting {
    connections: Connections,
    peer: IpAddr,
    address: IpAddr,
}

/// The place of one connection.
struct Place {
    /// Later ones have greater numbers.
    number: u64,
    is_exempt: bool,
    /// Requests that are under way.
    requests: AtomicUsize,
    /// Told when the place is given to another connection.
    given_away: Notify,
}

/// A connection that has a place; it is free again when this is dropped.
pub(crate) struct Connected {
    connections: Connections,
    address: IpAddr,
    place: Arc<Place>,
}

/// A request that is under way on a connection.
pub(crate) struct UnderWay(Arc<Place>);

impl Connections {
    pub(crate) fn new(
        caps: ConnectionCaps,
        is_exempt: impl Fn(IpAddr) -> bool + Send + Sync + 'static,
    ) -> Self {
        let is_exempt: IsExempt = Box::new(is_exempt);
        Self { shared: Arc::new(Shared { caps, is_exempt, held: Mutex::default(), freed: Notify::new() }) }
    }

    /// Gives a place to a new connection, or lets it wait for one.
    pub(crate) fn admit(&self, peer: IpAddr) -> Admission {
        let address = ClientAddress(peer.to_canonical()).neighbourhood();
        let is_exempt = self.is_exempt(peer);
        let mut held = self.held();
        let own = if is_exempt { 0 } else { held.of(address) };
        let waiting = held.waiting.get(&address).copied().unwrap_or(0);
        let all_waiting: usize = held.waiting.values().sum();
        if !is_exempt && own + waiting >= self.shared.caps.of_one_address {
            return Admission::Refused;
        }
        if held.all >= self.shared.caps.all {
            let Some((victim, place)) = held.victim(own) else {
                if all_waiting >= CONNECTIONS_WAITING_MAX {
                    return Admission::Refused;
                }
                *held.waiting.entry(address).or_default() += 1;
                return Admission::Waits(Waiting { connections: self.clone(), peer, address });
            };
            place.given_away.notify_one();
            held.remove(victim, place.number);
        }
        Admission::Admitted(self.placed(&mut held, address, is_exempt))
    }

    /// Waits until there may be a free place.
    pub(crate) async fn freed(&self) {
        self.shared.freed.notified().await;
    }

    /// Says which of those who wait is next: one from the address with the fewest connections. Nothing when all places are
    /// taken.
    pub(crate) fn next<'a>(&self, waiting: impl Iterator<Item = &'a Waiting>) -> Option<usize> {
        let held = self.held();
        if held.all >= self.shared.caps.all {
            return None;
        }
        let ranked = waiting.enumerate().map(|(index, one)| (held.of(one.address), index));
        ranked.min().map(|(_, index)| index)
    }

    fn is_exempt(&self, peer: IpAddr) -> bool {
        (self.shared.is_exempt)(peer)
    }

    fn placed(&self, held: &mut Held, address: IpAddr, is_exempt: bool) -> Connected {
        held.last += 1;
        held.all += 1;
        let place = Arc::new(Place {
            number: held.last,
            is_exempt,
            requests: AtomicUsize::new(0),
            given_away: Notify::new(),
        });
        held.by_address.entry(address).or_default().push(place.clone());
        Connected { connections: self.clone(), address, place }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.shared.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Counts the connections of an address.
    fn of(&self, address: IpAddr) -> usize {
        self.by_address.get(&address).map_or(0, Vec::len)
    }

    /// Finds the connection that ends for a new one, whose address has `own` connections: one of the address that has the
    /// most, if that is clearly more.
    fn victim(&self, own: usize) -> Option<(IpAddr, Arc<Place>)> {
        let greedy = self.by_address.iter().filter(|(_, places)| places.len() > own + 1);
        let places = greedy
            .flat_map(|(address, places)| places.iter().map(move |place| (address, places.len(), place)));
        let rank = |(_, count, place): &(&IpAddr, usize, &Arc<Place>)| {
            (*count, place.requests.load(Ordering::Relaxed) == 0, u64::MAX - place.number)
        };
        let victim = places.filter(|(_, _, place)| !place.is_exempt).max_by_key(rank);
        victim.map(|(address, _, place)| (*address, place.clone()))
    }

    fn remove(&mut self, address: IpAddr, number: u64) {
        let Some(places) = self.by_address.get_mut(&address) else { return };
        let before = places.len();
        places.retain(|place| place.number != number);
        self.all -= before - places.len();
        if places.is_empty() {
            self.by_address.remove(&address);
        }
    }
}

impl Connected {
    /// Waits until the place is given to another connection.
    pub(crate) async fn given_away(&self) {
        self.place.given_away.notified().await;
    }

    /// Notes that a request is under way until what is returned is dropped.
    pub(crate) fn begin(&self) -> UnderWay {
        self.place.requests.fetch_add(1, Ordering::Relaxed);
        UnderWay(self.place.clone())
    }
}

impl Waiting {
    /// Takes a place that is free.
    pub(crate) fn place(self) -> Connected {
        let connections = self.connections.clone();
        let is_exempt = connections.is_exempt(self.peer);
        connections.placed(&mut connections.held(), self.address, is_exempt)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut held = self.connections.held();
        if let Some(count) = held.waiting.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                held.waiting.remove(&self.address);
            }
        }
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.connections.held().remove(self.address, self.place.number);
        self.connections.shared.freed.notify_one();
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl UnderWay {
    /// Lets a request last as long as its answer: a live stream goes on after its head was sent.
    pub(crate) fn until_sent(self, body: Body) -> Body {
        match body.size_hint().exact() {
            Some(_) => body,
            None => Body::new(Lasting { body, _under_way: self }),
        }
    }
}

/// The body of an answer that comes piece by piece.
struct Lasting {
    body: Body,
    _under_way: UnderWay,
}

impl HttpBody for Lasting {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(all: usize, of_one_address: usize) -> Connections {
        let proxies: crate::auth::Network = "10.9.0.0/16".parse().unwrap();
        Connections::new(ConnectionCaps { all, of_one_address }, move |peer| proxies.contains(peer))
    }

    fn admit(connections: &Connections, address: &str) -> Admission {
        connections.admit(address.parse().unwrap())
    }

    #[track_caller]
    fn admitted(connections: &Connections, address: &str) -> Connected {
        match admit(connections, address) {
            Admission::Admitted(connected) => connected,
            Admission::Waits(_) | Admission::Refused => panic!("there is no place for {address}"),
        }
    }

    #[track_caller]
    fn waits(connections: &Connections, address: &str) -> Waiting {
        match admit(connections, address) {
            Admission::Waits(waiting) => waiting,
            Admission::Admitted(_) | Admission::Refused => panic!("{address} does not wait"),
        }
    }

    fn is_refused(connections: &Connections, address: &str) -> bool {
        matches!(admit(connections, address), Admission::Refused)
    }

    fn is_given_away(connected: &Connected) -> bool {
        let mut told = std::pin::pin!(connected.given_away());
        told.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_ready()
    }

    #[test]
    fn an_address_has_so_many_and_no_more() {
        let connections = connections(100, 2);
        let (first, _second) = (admitted(&connections, "10.0.0.1"), admitted(&connections, "10.0.0.1"));
        assert!(is_refused(&connections, "10.0.0.1"));
        assert!(is_refused(&connections, "::ffff:10.0.0.1"), "it is the same address");
        let _other = admitted(&connections, "10.0.0.2");
        let near = [admitted(&connections, "2001:db8::1"), admitted(&connections, "2001:db8::2")];
        assert!(is_refused(&connections, "2001:db8::3"), "neighbours count as one");
        drop((first, near));
        let _again = admitted(&connections, "10.0.0.1");
        let _proxied: Vec<Connected> = (0..10).map(|_| admitted(&connections, "10.9.0.1")).collect();
    }

    #[test]
    fn the_address_with_the_most_makes_room() {
        let connections = connections(4, 100);
        let crowd: Vec<Connected> = (0..3).map(|_| admitted(&connections, "10.0.0.1")).collect();
        let _working = crowd[0].begin();
        let lone = admitted(&connections, "10.0.0.2");
        let newcomer = admitted(&connections, "10.0.0.3");
        assert!(is_given_away(&crowd[1]), "the oldest on which nothing is under way");
        assert!(!is_given_away(&crowd[0]) && !is_given_away(&crowd[2]) && !is_given_away(&lone));
        drop((crowd, newcomer));
        assert_eq!(connections.held().all, 1, "a place that was given away is counted once");
    }

    #[test]
    fn who_has_as_many_waits_and_the_fewest_are_next() {
        let connections = connections(2, 2);
        let (one, _two) = (admitted(&connections, "10.0.0.1"), admitted(&connections, "10.0.0.2"));
        let waiting = [waits(&connections, "10.0.0.2"), waits(&connections, "10.0.0.3")];
        assert!(is_refused(&connections, "10.0.0.2"), "those who wait are counted");
        assert_eq!(connections.next(waiting.iter()), None);
        drop(one);
        assert_eq!(connections.next(waiting.iter()), Some(1));
        let [first, second] = waiting;
        let _placed = second.place();
        assert_eq!(connections.next([first].iter()), None);
        assert!(connections.held().waiting.is_empty());
    }

    #[test]
    fn proxies_are_not_sent_away() {
        let connections = connections(3, 1);
        let proxied: Vec<Connected> = (0..3).map(|_| admitted(&connections, "10.9.0.1")).collect();
        let _waiting = waits(&connections, "10.0.0.1");
        assert!(!proxied.iter().any(is_given_away));
    }

    #[test]
    fn which_proxies_are_trusted_may_change_while_connections_are_open() {
        let is_trusted = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let seen = is_trusted.clone();
        let caps = ConnectionCaps { all: 10, of_one_address: 1 };
        let connections = Connections::new(caps, move |_| seen.load(Ordering::Relaxed));
        let proxy: IpAddr = [192, 0, 2, 1].into();
        let first = connections.admit(proxy);
        assert!(matches!(first, Admission::Admitted(_)));
        assert!(matches!(connections.admit(proxy), Admission::Refused));
        is_trusted.store(true, Ordering::Relaxed);
        let second = connections.admit(proxy);
        assert!(matches!(second, Admission::Admitted(_)));
    }
}
