//! Whether bodies are that of the run's first answer: the first on each connection is hashed, and some later ones.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::{Arc, OnceLock};

use twox_hash::XxHash64;

use crate::engine::parse::Sink;
use crate::record::Failure;

/// Of so many later bodies one is hashed: some 1 in 1024, and a prime, so that it is not that of the same connection again and again
/// where connections take turns.
const ONE_IN: u32 = 1021;

/// The hash of the run's first answer, by whichever thread it came.
pub type First = OnceLock<u64>;

/// The bodies of a thread.
#[derive(Debug)]
pub struct Bodies {
    /// What they are compared with, if they are.
    first: Option<Arc<First>>,
    /// Bodies until the next one that is hashed.
    left: u32,
    /// Those that are being hashed, by connection.
    open: HashMap<u32, Hash>,
}

/// A body's hash, as far as it has come: XXH64.
#[derive(Clone, Debug, Default)]
pub struct Hash(XxHash64);

impl Sink for Hash {
    fn body(&mut self, piece: &[u8]) {
        self.0.write(piece);
    }
}

impl Bodies {
    /// Compared with that of the first answer, or not at all.
    pub fn new(first: Option<Arc<First>>) -> Bodies {
        Bodies { first, left: ONE_IN, open: HashMap::new() }
    }

    /// A request is about to be sent: whether the body of its answer is hashed.
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
        // What is left of an answer that failed goes.
        self.open.insert(connection, Hash::default());
        true
    }

    /// The hash of a body that is being received.
    pub fn of(&mut self, connection: u32) -> &mut Hash {
        self.open.entry(connection).or_default()
    }

    /// An answer that is otherwise as expected has come as a whole.
    ///
    /// # Errors
    /// [`Failure::Body`].
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
        let first = Arc::new(First::new());
        let mut bodies = Bodies::new(Some(first.clone()));
        assert!(bodies.begin(0, true));
        let hashed = (0..10 * ONE_IN).filter(|at| bodies.begin(at % 64, false));
        let connections: std::collections::BTreeSet<u32> = hashed.map(|at| at % 64).collect();
        assert_eq!(connections.len(), 10);
        let mut off = Bodies::new(None);
        assert!(!off.begin(0, true) && (0..2 * ONE_IN).all(|_| !off.begin(0, false)));
    }

    #[test]
    fn another_body_is_seen_in_whatever_pieces_it_comes() {
        let first = Arc::new(First::new());
        let (mut one, mut two) = (Bodies::new(Some(first.clone())), Bodies::new(Some(first.clone())));
        let check = |bodies: &mut Bodies, pieces: &[&str]| {
            assert!(bodies.begin(3, true));
            pieces.iter().for_each(|piece| bodies.of(3).body(piece.as_bytes()));
            bodies.check(3)
        };
        assert_eq!(check(&mut one, &["Hello", ", Go!"]), Ok(()));
        assert_eq!(check(&mut two, &["Hello, Go!"]), Ok(()));
        assert_eq!(check(&mut two, &["Hello, Go?"]), Err(Failure::Body));
        assert_eq!(check(&mut one, &[]), Err(Failure::Body));
        // An answer that was cut leaves nothing behind.
        assert!(one.begin(3, true));
        one.of(3).body(b"He");
        assert_eq!(check(&mut one, &["Hello, Go!"]), Ok(()));
    }
}
