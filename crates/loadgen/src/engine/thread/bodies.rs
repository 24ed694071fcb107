//! Compares bodies with that of the run's first answer, by hash: the first body of each connection, and a
//! sample of later ones.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::{Arc, OnceLock};

use twox_hash::XxHash64;

use crate::engine::message::Sink;
use crate::record::Failure;

/// One later body in this many is hashed. A prime near 1024: where connections take turns, a multiple of
/// their number would always hit the same one.
const ONE_IN: u32 = 1021;

/// Hash of the run's first body, from whichever thread.
pub type FirstHash = OnceLock<u64>;

#[derive(Debug)]
pub struct BodyHashes {
    first: Option<Arc<FirstHash>>,
    /// Bodies until the next one that is hashed.
    left: u32,
    /// Hashes in progress, by connection.
    open: HashMap<u32, BodyHash>,
}

/// XXH64 of the bytes so far.
#[derive(Clone, Debug, Default)]
pub struct BodyHash(XxHash64);

impl Sink for BodyHash {
    fn body(&mut self, piece: &[u8]) {
        self.0.write(piece);
    }
}

impl BodyHashes {
    pub fn new(first: Option<Arc<FirstHash>>) -> BodyHashes {
        BodyHashes { first, left: ONE_IN, open: HashMap::new() }
    }

    /// Decides, before a request is sent, whether the body of its answer is hashed.
    #[inline]
    pub fn begin(&mut self, connection: u32, is_first: bool) -> bool {
        if self.first.is_none() {
            return false;
        }
        self.left -= 1;
        if self.left > 0 && !is_first {
            return false;
        }
        self.left = ONE_IN;
        // Replaces the hash of an answer that failed.
        self.open.insert(connection, BodyHash::default());
        true
    }

    pub fn hash_of(&mut self, connection: u32) -> &mut BodyHash {
        self.open.entry(connection).or_default()
    }

    /// Compares a complete body of an answer that is otherwise as expected.
    pub fn check(&mut self, connection: u32) -> Result<(), Failure> {
        let hash = self.open.remove(&connection).unwrap_or_default().0.finish();
        let is_same = self.first.as_ref().is_none_or(|first| *first.get_or_init(|| hash) == hash);
        if is_same { Ok(()) } else { Err(Failure::Body) }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_first_and_one_in_so_many_are_hashed() {
        let first = Arc::new(FirstHash::new());
        let mut bodies = BodyHashes::new(Some(first.clone()));
        assert!(bodies.begin(0, true));
        let hashed = (0..10 * ONE_IN).filter(|at| bodies.begin(at % 64, false));
        let connections: std::collections::BTreeSet<u32> = hashed.map(|at| at % 64).collect();
        assert_eq!(connections.len(), 10);
        let mut off = BodyHashes::new(None);
        assert!(!off.begin(0, true) && (0..2 * ONE_IN).all(|_| !off.begin(0, false)));
    }

    #[test]
    fn a_different_body_is_detected_in_any_pieces() {
        let first = Arc::new(FirstHash::new());
        let bodies = || BodyHashes::new(Some(first.clone()));
        let (mut bodies_1, mut bodies_2) = (bodies(), bodies());
        let check = |bodies: &mut BodyHashes, pieces: &[&str]| {
            assert!(bodies.begin(3, true));
            pieces.iter().for_each(|piece| bodies.hash_of(3).body(piece.as_bytes()));
            bodies.check(3)
        };
        assert_eq!(check(&mut bodies_1, &["Hello", ", Go!"]), Ok(()));
        assert_eq!(check(&mut bodies_2, &["Hello, Go!"]), Ok(()));
        assert_eq!(check(&mut bodies_2, &["Hello, Go?"]), Err(Failure::Body));
        assert_eq!(check(&mut bodies_1, &[]), Err(Failure::Body));
        // A truncated answer leaves nothing.
        assert!(bodies_1.begin(3, true));
        bodies_1.hash_of(3).body(b"He");
        assert_eq!(check(&mut bodies_1, &["Hello, Go!"]), Ok(()));
    }
}
