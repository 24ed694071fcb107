//! The memory: three arrays on each node, and what they must hold.

use figure::Reading;
use lab::failure::Failure;

use crate::bandwidth::arrays::{Arrays, Split};
use crate::bandwidth::expected::Expected;
use crate::kernels::{Array, Operation};
use crate::pages::{Backing, Pages, SampledNodes};

use super::sizing::NodeNeed;

#[derive(Debug)]
pub struct NodeArrays(Vec<Arrays>);

impl NodeArrays {
    pub fn map(nodes: &[NodeNeed], offset: usize, pages: Pages) -> Result<NodeArrays, Failure> {
        let map = |need: &NodeNeed| {
            let whole = Split { threads: 1, most: need.elements };
            Arrays::map(whole, offset, pages, need.node)
        };
        nodes.iter().map(map).collect::<Result<_, _>>().map(NodeArrays)
    }

    pub fn start(&self, node: usize, array: Array) -> *mut f64 {
        self.0[node].part(array, 0)
    }

    pub fn backing(&self) -> Reading<Backing> {
        Backing::sum(self.0.iter().map(Arrays::backing))
    }

    pub fn bytes(&self) -> f64 {
        self.0.iter().map(Arrays::bytes).sum()
    }

    pub fn nodes(&self, node: usize, elements: usize) -> SampledNodes {
        self.0[node].nodes(0, elements)
    }
}

/// What a node's arrays must hold: values are equal from one figure's end to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents(Vec<(usize, Expected)>);

impl Contents {
    pub fn new(elements: usize) -> Contents {
        Contents(vec![(elements, Expected::default())])
    }

    pub fn forget(&mut self) {
        for (_, expected) in &mut self.0 {
            *expected = Expected::UNKNOWN;
        }
    }

    /// Follows passes over the first `used` elements.
    pub fn follow(&mut self, used: usize, operation: Operation, passes: u64) {
        if let Some(at) = self.0.iter().position(|(end, _)| *end > used)
            && (at == 0 || self.0[at - 1].0 < used)
            && used > 0
        {
            self.0.insert(at, (used, self.0[at].1));
        }
        for (_, expected) in self.0.iter_mut().take_while(|(end, _)| *end <= used) {
            *expected = expected.after_passes(operation, passes);
        }
    }

    pub fn at(&self, element: usize) -> Expected {
        self.0.iter().find(|(end, _)| element < *end).map_or(Expected::UNKNOWN, |(_, expected)| *expected)
    }

    /// A range, cut where values change: first element, the one behind the last, the values.
    pub fn within(&self, start: usize, length: usize) -> impl Iterator<Item = (usize, usize, Expected)> {
        let begins = std::iter::once(0).chain(self.0.iter().map(|(end, _)| *end));
        begins
            .zip(&self.0)
            .map(move |(begin, (end, expected))| (begin.max(start), (*end).min(start + length), *expected))
            .filter(|(from, to, _)| from < to)
    }

    pub fn sum(&self, array: Array, start: usize, length: usize) -> f64 {
        self.within(start, length)
            .map(|(from, to, expected)| (to - from) as f64 * expected.value(array))
            .sum()
    }

    pub fn is_worn(&self) -> bool {
        self.0.iter().any(|(_, expected)| expected.is_worn())
    }

    pub fn is_unknown(&self) -> bool {
        self.0.iter().any(|(_, expected)| expected.is_unknown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Operation::{Triad, Update};
    use proptest::prelude::*;

    #[test]
    fn shorter_and_longer_uses_are_distinguished() {
        let (start, mut contents) = (Expected::default(), Contents::new(100));
        contents.follow(60, Triad, 3);
        contents.follow(20, Update, 1);
        let triad = start.after(Triad);
        assert_eq!(contents.at(19), triad.after(Update));
        assert_eq!((contents.at(20), contents.at(59)), (triad, triad));
        assert_eq!((contents.at(60), contents.at(99)), (start, start));
        let a = |expected: Expected| expected.value(Array::A);
        let sum = 10.0 * a(triad.after(Update)) + 40.0 * a(triad) + 5.0 * a(start);
        assert!((contents.sum(Array::A, 10, 55) - sum).abs() < 1e-12);
        contents.forget();
        assert!(contents.is_unknown() && contents.is_worn());
    }

    proptest! {
        #[test]
        fn every_element_is_followed(uses in proptest::collection::vec((0..50usize, 1..4u64), 0..20)) {
            let mut contents = Contents::new(50);
            let mut each = [Expected::default(); 50];
            for (used, passes) in uses {
                contents.follow(used, Update, passes);
                each[..used].iter_mut().for_each(|value| *value = value.after_passes(Update, passes));
            }
            for (element, expected) in each.iter().enumerate() {
                prop_assert_eq!(contents.at(element), *expected);
            }
        }
    }
}
